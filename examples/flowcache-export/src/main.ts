import { parseArgs } from 'node:util';
import { exported, linesOf, store } from './flowcache-export.js';

const { redis } = parseArgs({ options: { redis: { type: 'string' } } }).values;
const told = exported();
for (const line of linesOf(told)) console.log(line);
if (redis !== undefined) {
  const { events, entries } = await store(told, `redis://${redis}`);
  console.log(`Redis: ${events.delivered} events and ${entries.delivered} entries written`);
  if (events.delivered + entries.delivered < told.events.length + told.entries.length) process.exitCode = 1;
}
