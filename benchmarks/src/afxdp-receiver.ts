/**
 * Telemetry reports by an AF_XDP socket: `afxdp-receiver.js INTERFACE MODE WAITING FILTER WORK`. WAITING: `tick`, a
 * timer of a millisecond; `sleep`, the thread sleeps for a millisecond; `wait`, it sleeps until there is something. FILTER: `none`; `array` or `hash`, events only; `-bare` behind it, without counts by switch. A line on standard
 * input asks what has been done.
 */
import { umemBytes, XdpBatch, type XdpMode, XdpSocket } from '@int/afxdp';
import { Prefilter } from '@int/afxdp/prefilter';
import { AcceleratorMemory } from '@int/codec';
import { compileRules } from '@int/detect';
import { answerOnInput, ready } from './afxdp/answers.js';
import { INT_PORT, LATENCY, REPORT_PORT } from './afxdp/template.js';
import { WORK_BATCH, Work, workOf } from './afxdp/work.js';

const [name = '', mode = '', waiting = '', filter = '', work = ''] = process.argv.slice(2);
const FRAMES = 4096;
const TICK_MS = 1;
/** A thread that sleeps looks at its standard input after so many turns without a frame. */
const IDLE_TURNS = 5;

const rules = compileRules({
  version: 1,
  default: 'report',
  rules: [
    {
      name: 'latency',
      priority: 1,
      match: 'any',
      detect: { perHop: { metric: 'hopLatency', threshold: LATENCY.threshold } },
    },
  ],
});
const ports = [REPORT_PORT];
const state = filter.split('-', 1)[0];
const prefilter =
  state === 'array' || state === 'hash'
    ? Prefilter.attach({
        interface: name,
        mode: mode as XdpMode,
        ports,
        rules,
        state,
        intPorts: [INT_PORT],
        intDscp: null,
        countHops: !filter.endsWith('-bare'),
      })
    : null;

const options = { interface: name, mode: mode as XdpMode, frames: FRAMES };
const acceleratorMemory = new AcceleratorMemory(umemBytes(options) + Work.memoryBytes);
const memory = acceleratorMemory.bytes(umemBytes(options));
const worker = new Work(workOf(work), 'ethernet', acceleratorMemory);
const batch = new XdpBatch(WORK_BATCH, acceleratorMemory.arena);
const socket = await XdpSocket.open({
  ...options,
  memory,
  ...(prefilter === null ? { ports } : { program: prefilter.program }),
});

/** Takes what is there. @returns how many frames */
function drain(): number {
  let frames = 0;
  for (let count = socket.receive(batch); count > 0; count = socket.receive(batch)) {
    worker.frames(socket.umem, batch.offsets, batch.lengths, count);
    socket.release(batch);
    frames += count;
  }
  return frames;
}

answerOnInput(() => {
  const { kernel } = socket.stats();
  const counts = prefilter?.counts();
  return {
    ...worker.done(),
    dropped: kernel.rxDropped + kernel.rxRingFull,
    ...(counts !== undefined && { filter: { reports: counts.reports, events: counts.events } }),
  };
});
ready();
if (waiting === 'tick') {
  const timer: NodeJS.Timeout = setTimeout(() => {
    drain();
    timer.refresh();
  }, TICK_MS);
} else {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (let idle = 0; ; ) {
    if (drain() > 0) idle = 0;
    else if (++idle === IDLE_TURNS) {
      idle = 0;
      await new Promise(setImmediate);
    }
    if (waiting === 'wait') socket.waitSync(TICK_MS);
    else Atomics.wait(never, 0, 0, TICK_MS);
  }
}
