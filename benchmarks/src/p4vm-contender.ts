/**
 * Our switch in a process of its own: `p4vm-contender.js CASE IN.pcap FOLDER`. Each line on standard input asks for a pass
 * over the capture and is answered with a line of JSON: nanoseconds a packet of the switch alone, and from file to file.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createSwitch } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';
import { CaptureFrame, CaptureReader, PcapWriter } from '@int/pcap';
import { caseOf, IN } from './p4vm/cases.js';

const [name = '', input = '', folder = ''] = process.argv.slice(2);
const { program, commands } = caseOf(name);
const machine = createSwitch(loadProgram(program), {
  clock: { nowUs: () => Math.floor(performance.now() * 1000) },
});
for (const { error, command } of machine.commands(commands.join('\n'))) {
  if (error !== undefined) throw new Error(`${command}: ${error.message}`);
}

/** A capture that is being written, in memory. */
class Output {
  readonly writer = new PcapWriter({ nanosecond: false });
  bytes = new Uint8Array(1 << 20);
  length = 0;

  start(): void {
    const header = this.writer.header();
    this.bytes.set(header);
    this.length = header.length;
  }

  add(frame: Uint8Array): void {
    const needed = this.length + this.writer.recordLength(frame.length);
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(2 * needed);
      grown.set(this.bytes.subarray(0, this.length));
      this.bytes = grown;
    }
    this.length += this.writer.recordInto(this.bytes, this.length, frame, 0, 0);
  }
}

const outputs = new Map<number, Output>();

/** The lesser of elapsed and processor time: other load adds to the first, helper threads of the engine to the second. */
function timed(work: () => void): number {
  const cpu = process.cpuUsage();
  const start = performance.now();
  work();
  const elapsed = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return Math.min(elapsed, (user + system) / 1000) * 1e6;
}

function fileToFile(): void {
  for (const output of outputs.values()) output.start();
  machine.onTransmit = (port, bytes, offset, length) => {
    let output = outputs.get(port);
    if (output === undefined) {
      output = new Output();
      output.start();
      outputs.set(port, output);
    }
    output.add(bytes.subarray(offset, offset + length));
  };
  const reader = new CaptureReader();
  const frame = new CaptureFrame();
  reader.feed(readFileSync(input));
  reader.end();
  while (reader.next(frame)) machine.receive(IN, frame.bytes, frame.offset, frame.length);
  for (const [port, { bytes, length }] of outputs) {
    writeFileSync(join(folder, `ours-${port}.pcap`), bytes.subarray(0, length));
  }
}

const frames: Uint8Array[] = [];
const reader = new CaptureReader();
const each = new CaptureFrame();
reader.feed(readFileSync(input));
reader.end();
while (reader.next(each)) frames.push(each.data.slice());

let sent = 0;
function switchAlone(): void {
  machine.onTransmit = () => {
    sent++;
  };
  for (const frame of frames) machine.receive(IN, frame);
}

for await (const _ of createInterface({ input: process.stdin })) {
  const files = timed(fileToFile) / frames.length;
  sent = 0;
  const alone = timed(switchAlone) / frames.length;
  console.log(JSON.stringify({ alone, files, copies: sent / frames.length }));
}
