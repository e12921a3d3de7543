"""A training job for tests whose settled plan is known: its default step sleeps, and the one other way does not. Trains
for some steps more, in which it tells of its kernels. Prints what became of it as one line of JSON.
"""
import json

import bad_luck_job
import torch

import blazed
import blazed.torch

STEPS = 200  # in service
MOST = 40_000


def main():
    bad_luck_job.offer_another_way(lambda: None, sleep_s=0.003)
    blazed.torch.configure(blazed.Options(host_name="torch test"))
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.LayerNorm(16), torch.nn.GELU(), torch.nn.Linear(16, 4))
    compiled = torch.compile(model, backend="blazed", dynamic=False)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    steps, settled_at = 0, None
    for rows, labels in bad_luck_job.batches("plain"):
        loss = torch.nn.functional.cross_entropy(compiled(rows), labels)
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        steps += 1
        found = blazed.status() if settled_at is None else None
        if found is not None and found.settled and found.champion != "default":
            settled_at = steps
        if settled_at is not None and steps >= settled_at + STEPS or steps >= MOST:
            break
    job = blazed.torch.current_job()
    print(json.dumps({"settled_at": settled_at, "status": blazed.status().as_dict(),
                      "why_not": job.why_not, "error": str(job.session.last_error or "")}))
    job.close()


if __name__ == "__main__":
    main()
