// Precompiled for this room: gRPC's headers take longer to read than everything of ours.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "blazed/v1/tuner.grpc.pb.h"
