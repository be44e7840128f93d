import { findings, linesOf } from './int-detect.js';

for (const line of linesOf(findings())) console.log(line);
