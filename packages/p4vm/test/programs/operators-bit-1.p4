// Every operator on bit<1>: wrap-around, saturation, shifts beyond the width.
#define WIDTH 1
#define NUMBER bit<1>
#include "include/operators.p4"
