/** Scripts of commands and packets, as `int p4 play` takes them. */
import type { V1Switch } from '@int/p4vm';
import { hex } from './packets.js';

/** Ports that are recorded. */
const LAST_PORT = 9;

/** What came out of each packet of a script: `PORT HEX`, by port, then by length. */
export type Played = readonly (readonly string[])[];

function byPortAndLength(one: string, other: string): number {
  const [a, b] = [one, other].map((line) => line.split(' ') as [string, string]);
  return Number(a![0]) - Number(b![0]) || a![1].length - b![1].length;
}

/** Plays the lines of a script. Commands that cannot be done change nothing. */
export function play(machine: V1Switch, script: string): Played {
  const played: string[][] = [];
  for (const line of script.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('!')) {
      machine.command(line.slice(1).trim());
      continue;
    }
    const [port = '', digits = ''] = line.split(' ');
    const frame = Uint8Array.from(Buffer.from(digits, 'hex'));
    const outputs = machine.process(Number(port), frame).filter((each) => each.port <= LAST_PORT);
    played.push(outputs.map((each) => `${each.port} ${hex(each.frame)}`).sort(byPortAndLength));
  }
  return played;
}
