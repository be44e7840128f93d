// Every operator on bit<64>: wrap-around, saturation, shifts beyond the width.
#define WIDTH 64
#define NUMBER bit<64>
#include "include/operators.p4"
