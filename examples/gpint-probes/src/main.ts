import { linesOf, probed } from './gpint-probes.js';

for (const line of linesOf(probed())) console.log(line);
