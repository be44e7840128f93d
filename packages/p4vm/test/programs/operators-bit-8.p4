// Every operator on bit<8>: wrap-around, saturation, shifts beyond the width.
#define WIDTH 8
#define NUMBER bit<8>
#include "include/operators.p4"
