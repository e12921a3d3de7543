#!/usr/bin/env python3
"""A convolutional network that learns to read digits: the 1,797 scans that scikit-learn brings.

    python digits_cnn.py --steps 2000

An ordinary training loop; the only thing in it of blazed is the name of the compiler's backend.
"""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from common import Progress, add_size_flags, flags


def network(channels):
    layers = []
    for inner, outer in ((1, channels), (channels, 2 * channels)):
        layers += [nn.Conv2d(inner, outer, 3, padding=1), nn.BatchNorm2d(outer), nn.ReLU(),
                   nn.Conv2d(outer, outer, 3, padding=1), nn.BatchNorm2d(outer), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Dropout(0.2), nn.Linear(8 * channels, 10))


def digits():
    """Images and labels, to train and to test."""
    found = load_digits()
    images = torch.from_numpy(found.images).float().unsqueeze(1) / 16
    labels = torch.from_numpy(found.target).long()
    order = torch.randperm(len(images))
    images, labels = images[order], labels[order]
    return TensorDataset(images[:1536], labels[:1536]), TensorDataset(images[1536:], labels[1536:])


def endless(loader):
    while True:
        yield from loader


def share_right(model, loader, device):
    model.eval()
    with torch.no_grad():
        right = sum(int((model(images.to(device)).argmax(1) == labels.to(device)).sum()) for images, labels in loader)
    model.train()
    return right / len(loader.dataset)


def main(arguments=None):
    """Losses, and the model."""
    parser = flags("A convolutional network that learns to read digits.", steps=2000)
    add_size_flags(parser, channels=16, batch=64)
    options = parser.parse_args(arguments)

    torch.manual_seed(options.seed)
    train, test = digits()
    model = network(options.channels).to(options.device)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    compiled = torch.compile(model, backend=options.backend, dynamic=False)

    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(train):,} images to train, {len(test):,} to test")
    progress = Progress(options)
    # Batches of one size: a smaller last one would be another graph.
    loader = endless(DataLoader(train, options.batch, shuffle=True, drop_last=True))
    losses = []
    for number, (images, labels) in zip(range(options.steps), loader):
        optimiser.zero_grad()
        loss = F.cross_entropy(compiled(images.to(options.device)), labels.to(options.device))
        loss.backward()
        optimiser.step()
        losses.append(loss.detach())
        if progress.wanted(number + 1):
            progress.tell(number + 1, float(losses[-1]))
    print(f"{share_right(model, DataLoader(test, 261), options.device):.1%} of the test's digits are read right")
    progress.end()
    return list(map(float, losses)), model


if __name__ == "__main__":
    main()
