// Every operator on bit<16>: wrap-around, saturation, shifts beyond the width.
#define WIDTH 16
#define NUMBER bit<16>
#include "include/operators.p4"
