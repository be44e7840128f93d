# Sends Writes by plain gRPC: argv = address, then SIZE:FILE for each, with an encoded WriteRequest. SIZE is
# grpc.max_metadata_size, 0 for the default. Prints the code, how many errors of updates came with it, and whose words.
import sys

import grpc
from google.rpc import status_pb2

address = sys.argv[1]
for argument in sys.argv[2:]:
    size, path = argument.split(":", 1)
    options = [("grpc.max_metadata_size", int(size))] if size != "0" else []
    with grpc.insecure_channel(address, options) as channel, open(path, "rb") as request:
        try:
            channel.unary_unary("/p4.v1.P4Runtime/Write")(request.read(), timeout=30)
            print("OK", flush=True)
        except grpc.RpcError as error:
            told = 0
            for key, value in error.trailing_metadata() or []:
                if key == "grpc-status-details-bin":
                    told = len(status_pb2.Status.FromString(value).details)
            print(error.code().name, told, "ours" if "updates failed" in error.details() else error.details(), flush=True)
