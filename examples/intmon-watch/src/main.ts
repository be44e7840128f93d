import { linesOf, watched } from './intmon-watch.js';

for (const line of linesOf(watched())) console.log(line);
