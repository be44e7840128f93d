// Every operator on bit<9>: wrap-around, saturation, shifts beyond the width.
#define WIDTH 9
#define NUMBER bit<9>
#include "include/operators.p4"
