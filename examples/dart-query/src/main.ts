import { linesOf, traced } from './dart-query.js';

for (const line of linesOf(traced())) console.log(line);
