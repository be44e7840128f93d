// Every operator on bit<128>: wrap-around, saturation, shifts beyond the width.
#define WIDTH 128
#define NUMBER bit<128>
#include "include/operators.p4"
