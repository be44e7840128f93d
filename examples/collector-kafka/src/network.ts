/**
 * The network: switches in a fat tree, flows, and something that goes wrong. Its reports go out by UDP in the time of the
 * clock. Arguments: scenario, seed, seconds, host, port.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { SCENARIO_KINDS, Scenario } from '@int/netsim';
import type { NetworkDone } from './messages.js';

const STEP_MS = 10;

const [name = '', seed = '1', seconds = '10', host = '127.0.0.1', port = ''] = process.argv.slice(2);
const kind = SCENARIO_KINDS.find((each) => each === name);
if (kind === undefined) throw new TypeError(`no scenario "${name}": ${SCENARIO_KINDS.join(', ')}`);

const socket = createSocket('udp4');
socket.connect(Number(port), host);
await once(socket, 'connect');

let sent = 0;
let open = 0;
const scenario = new Scenario({ kind, seed, durationNs: Number(seconds) * 1e9 }, (payload) => {
  open++;
  socket.send(payload, (error) => {
    open--;
    if (error === null) sent++;
  });
});
const started = performance.now();
for (let at = scenario.startNs; at < scenario.endNs; ) {
  at = Math.min(scenario.endNs, scenario.startNs + Math.floor((performance.now() - started) * 1e6));
  scenario.run(at);
  await sleep(STEP_MS);
}
while (open > 0) await sleep(STEP_MS);
socket.close();
const done: NetworkDone = { sent, labels: scenario.labels() };
process.send?.(done);
process.disconnect?.();
