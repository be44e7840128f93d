// Every operator on bit<32>: wrap-around, saturation, shifts beyond the width.
#define WIDTH 32
#define NUMBER bit<32>
#include "include/operators.p4"
