/**
 * The demo's fabric: a thread that sends telemetry reports to the collector's socket until it is stopped. In a thread
 * of its own, it does not slow down the collector.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { ReportStream } from '@int/traffic';
import { sendPaced, UdpSender } from '../output/udp-sender.js';
import type { DemoMessage, DemoOptions } from './fabric.js';

const options = workerData as DemoOptions;
const port = parentPort!;
let isStopped = false;
port.on('message', () => {
  isStopped = true;
});

const sender = await UdpSender.open(options.host, options.port);
const stream = new ReportStream({
  topology: options.topology,
  flows: options.flows,
  ratePps: options.ratePps,
  seed: options.seed,
  mode: 'md',
  report: '2.0',
  startNs: BigInt(Date.now()) * 1_000_000n,
});
await sendPaced(stream, sender, Number.POSITIVE_INFINITY, () => isStopped);
const message: DemoMessage = { sent: sender.sent, error: sender.error?.message ?? null };
await sender.close();
port.postMessage(message);
port.close();
