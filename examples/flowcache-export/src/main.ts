import { parseArgs } from 'node:util';
import { exported, linesOf, store } from './flowcache-export.js';

const { redis } = parseArgs({ options: { redis: { type: 'string' } } }).values;
const told = exported();
for (const line of linesOf(told)) console.log(line);
if (redis !== undefined) {
  const { events, entries } = await store(told, `redis://${redis}`);
  console.log(`Redis: ${events.written} events and ${entries.written} entries written`);
  if (events.written + entries.written < told.events.length + told.entries.length) process.exitCode = 1;
}
