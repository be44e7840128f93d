/** Packets and commands without end for a program: those of the runs on simple_switch, changed at random. */
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { ProgramName } from '@int/p4';
import { createSwitch, type IrProgram, type SwitchEnvironment, type V1Switch } from '@int/p4vm';
import { Random } from '@int/random';
import { anyCommand, everyCommand, FIRST } from './commands.js';

const STOCK = new URL('../stock-runs/', import.meta.url);
/** Where headers are: bytes that are changed. */
const HEADER_BYTES = 140;
/** A packet may go round so often: some of gpint.p4 go round until the time is up. */
const MOST_PASSES = 20;

const frames = new Map<string, Uint8Array[]>();

/** Packets of the runs of a program; dart.p4 takes those of int.p4. */
function framesOf(program: ProgramName): Uint8Array[] {
  const name = program === 'dart' ? 'int' : program;
  let known = frames.get(name);
  if (known === undefined) {
    const runs = readdirSync(STOCK).filter((each) => each.startsWith(`${name}-`) && each.endsWith('.script.gz'));
    const text = runs.map((run) => gunzipSync(readFileSync(new URL(run, STOCK))).toString()).join('\n');
    const hexes = text.match(/(?<=^\d+ )[0-9a-f]+$/gm) ?? [];
    known = hexes.map((hex) => Uint8Array.from(Buffer.from(hex, 'hex')));
    frames.set(name, known);
  }
  return known;
}

/** A switch with packets for it. The same seed gives the same packets and commands. */
export class Fuzz {
  readonly machine: V1Switch;
  readonly #random: Random;
  #nowUs = 1;

  constructor(
    readonly program: ProgramName,
    source: IrProgram,
    seed: number,
    options: SwitchEnvironment,
  ) {
    this.#random = new Random(seed);
    this.machine = createSwitch(source, { clock: { nowUs: () => this.#nowUs }, maxPasses: MOST_PASSES, ...options });
    this.machine.commands(FIRST[program].join('\n'));
    this.machine.commands(everyCommand(program, this.#random).join('\n'));
  }

  /** Sends so many packets, with commands between them. */
  run(packets: number): void {
    const random = this.#random;
    for (let i = 0; i < packets; i++) {
      // The whole configuration now and then, a bit of it often.
      if (random.integer(200) === 0) this.machine.commands(everyCommand(this.program, random).join('\n'));
      else if (random.integer(3) === 0) this.machine.command(anyCommand(this.program, random));
      this.#nowUs += random.integer(100);
      const frame = this.#frame();
      this.machine.receive(1 + random.integer(9), frame, 0, frame.length);
    }
  }

  #frame(): Uint8Array {
    const random = this.#random;
    const known = framesOf(this.program);
    let frame = known[random.integer(known.length)]!.slice();
    const change = random.integer(8);
    if (change === 0) frame = frame.subarray(0, random.integer(frame.length + 1));
    else if (change < 4) {
      for (let i = random.integer(4); i >= 0; i--) {
        const at = random.integer(Math.min(HEADER_BYTES, frame.length));
        frame[at] = random.integer(2) === 0 ? random.integer(256) : (frame[at] ?? 0) ^ (1 << random.integer(8));
      }
    }
    return frame;
  }
}

/** Sum of all faults of a switch. */
export function faultsOf(machine: V1Switch): number {
  return Object.values(machine.statistics.faults).reduce((sum, each) => sum + each, 0);
}
