import type { CounterValue } from '../externs/counter.js';
import type { IrProgram } from '../ir/program.js';
import { createSwitch } from '../switch/create-switch.js';
import { V1Switch } from '../switch/v1-switch.js';
import { ControlError } from '../tables/control-error.js';
import { hexOf } from '../trace/trace-text.js';
import { comparePacket } from './compare-packet.js';
import { parseStf } from './parse-stf.js';
import type { StfComparison, StfStatement } from './statement.js';
import { addCommand, StfNameError, setDefaultCommand } from './table-command.js';

export interface StfMessage {
  /** Line of the test's text, from 1. */
  readonly line: number;
  readonly message: string;
}

/** The result of a packet test. */
export interface StfResult {
  readonly passed: boolean;
  readonly failures: readonly StfMessage[];
  /** Commands that the switch refused. They do not make the test fail, but their consequences may. */
  readonly refused: readonly StfMessage[];
  readonly packetsIn: number;
  readonly packetsOut: number;
  readonly expectations: number;
}

/** Most failures, and most refused commands, in a result. */
const MAX_MESSAGES = 1000;
/** Longest text of one, in characters. */
const MAX_TEXT = 20_000;
/** Most bytes of packets kept for the comparison. */
const MAX_KEPT = 1 << 26;
/** Memory of a kept packet beside its bytes. */
const PACKET_BYTES = 128;

type Expectation = Extract<StfStatement, { readonly kind: 'expect' }>;

const COMPARISONS: Readonly<Record<StfComparison, (left: bigint, right: bigint) => boolean>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
};

/** Messages up to a limit. Further ones are counted. */
class Messages {
  readonly #list: StfMessage[] = [];
  #more = 0;

  add(line: number, message: string): void {
    if (this.#list.length < MAX_MESSAGES) this.#list.push({ line, message: shortened(message) });
    else this.#more++;
  }

  /** In order of lines. The last one tells how many are missing. */
  get list(): readonly StfMessage[] {
    const list = [...this.#list].sort((a, b) => a.line - b.line);
    const last = list.at(-1);
    if (this.#more > 0 && last !== undefined) list.push({ line: last.line, message: `and ${this.#more} more` });
    return list;
  }
}

function shortened(message: string): string {
  return message.length <= MAX_TEXT ? message : `${message.slice(0, MAX_TEXT)}...`;
}

class StfRun {
  readonly failures = new Messages();
  readonly refused = new Messages();
  #kept = 0;
  readonly received = new Map<number, Uint8Array[]>();
  readonly handles = new Map<string, number>();
  packetsIn = 0;
  packetsOut = 0;
  lastOutputs: readonly { readonly port: number; readonly frame: Uint8Array }[] = [];

  constructor(readonly target: V1Switch) {}

  step(statement: StfStatement): void {
    const { line } = statement;
    try {
      this.#do(statement);
    } catch (error) {
      if (!(error instanceof StfNameError) && !ControlError.is(error)) throw error;
      this.failures.add(line, error.message);
    }
  }

  /** Compares each port's packets with the expected ones, in order. */
  compare(statements: readonly StfStatement[]): void {
    const expected = new Map<number, Expectation[]>();
    for (const statement of statements) {
      if (statement.kind !== 'packet' && statement.kind !== 'expect') continue;
      const list = expected.get(statement.port) ?? [];
      expected.set(statement.port, list);
      if (statement.kind === 'expect') list.push(statement);
    }
    // Ports that the test does not mention are ignored.
    for (const [port, list] of [...expected].sort(([a], [b]) => a - b)) {
      const frames = this.received.get(port) ?? [];
      list.forEach((statement, at) => {
        const frame = frames[at];
        const wrong =
          frame === undefined ? 'no packet came' : comparePacket(statement.pattern, statement.isExact, frame);
        if (wrong !== undefined) {
          this.failures.add(statement.line, `port ${port}, packet ${at + 1}: ${wrong}`);
        }
      });
      const line = list.at(-1)?.line ?? statements.at(-1)?.line ?? 1;
      for (const frame of frames.slice(list.length)) {
        this.failures.add(line, `port ${port}: a packet too many: ${hexOf(frame).toUpperCase()}`);
      }
    }
  }

  #do(statement: StfStatement): void {
    const { target } = this;
    switch (statement.kind) {
      case 'packet':
        this.#packet(statement);
        return;
      case 'expect':
      case 'wait':
        return;
      case 'no-packet':
        for (const { port, frame } of this.lastOutputs) {
          const sent = hexOf(frame).toUpperCase();
          this.failures.add(statement.line, `no packet expected, but port ${port} sent ${sent}`);
        }
        return;
      case 'add': {
        const { table, priority, matches, call, id } = statement;
        const handle = this.#command(statement.line, addCommand(target.program, table, priority, matches, call));
        if (id !== undefined && handle !== undefined) this.handles.set(id.replace(/^\$/, ''), handle);
        return;
      }
      case 'setdefault':
        this.#command(statement.line, setDefaultCommand(target.program, statement.table, statement.call));
        return;
      case 'remove-all':
        // The entries that the program declared stay.
        for (const table of target.state.tables) if (!table.declaration.areEntriesConst) table.clear();
        return;
      case 'command':
        this.#command(statement.line, statement.text);
        return;
      case 'check-counter':
        this.#checkCounter(statement);
        return;
      case 'check-register': {
        const value = BigInt(target.control.register(statement.register).read(Number(statement.index)));
        this.#check(statement.line, `register ${statement.register}(${statement.index})`, value, statement);
      }
    }
  }

  #packet({ line, port, frame }: Extract<StfStatement, { readonly kind: 'packet' }>): void {
    this.packetsIn++;
    this.lastOutputs = this.target.process(port, frame);
    for (const output of this.lastOutputs) {
      this.packetsOut++;
      this.#kept += PACKET_BYTES + output.frame.length;
      if (this.#kept > MAX_KEPT) {
        this.failures.add(line, 'more packets came out than can be compared');
        continue;
      }
      const list = this.received.get(output.port);
      if (list === undefined) this.received.set(output.port, [output.frame]);
      else list.push(output.frame);
    }
  }

  /** Returns the handle of the entry that the command made, if any. */
  #command(line: number, command: string): number | undefined {
    const { error, handle } = this.target.command(command);
    if (error !== undefined) this.refused.add(line, `${command}: ${error.message}`);
    return handle;
  }

  #checkCounter(statement: Extract<StfStatement, { kind: 'check-counter' }>): void {
    const { counter, index, unit } = statement;
    const isNumber = /^\d+$/.test(index);
    const at = isNumber ? Number(index) : this.handles.get(index.replace(/^\$/, ''));
    if (at === undefined) throw new StfNameError(`no entry is called ${index}`);
    const value = BigInt(this.#counter(counter, at)[unit]);
    if (statement.value !== undefined) {
      const { comparison, value: wanted } = statement;
      this.#check(statement.line, `counter ${counter}(${index}) ${unit}`, value, { comparison, value: wanted });
    }
  }

  /** A counter, or a direct counter of a table's entry. */
  #counter(name: string, index: number): CounterValue {
    const { control } = this.target;
    const counter = control.counters.get(name, 'ERR_CONTROL_UNKNOWN_EXTERN', 'counter');
    if (counter.kind === 'counter') return counter.read(index);
    return control.table(control.tableOf(counter).declaration.name).counter(index);
  }

  #check(
    line: number,
    what: string,
    value: bigint,
    { comparison, value: wanted }: { readonly comparison: StfComparison; readonly value: bigint },
  ): void {
    if (!COMPARISONS[comparison](value, wanted)) {
      this.failures.add(line, `${what} is ${value}, expected ${comparison} ${wanted}`);
    }
  }
}

/**
 * Runs a packet test in the format of p4c's tests (STF): sends packets one after the other, and at the end compares
 * each port's output with the expected packets, in order. Ports that the test does not mention are ignored. In `add`
 * the larger priority wins.
 *
 * @param target a program, for which a switch is made, or an existing switch
 * @throws StfSyntaxError if the text cannot be read
 */
export function runStf(target: IrProgram | V1Switch, text: string): StfResult {
  const statements = parseStf(text);
  const run = new StfRun(target instanceof V1Switch ? target : createSwitch(target));
  for (const statement of statements) run.step(statement);
  run.compare(statements);
  const { packetsIn, packetsOut } = run;
  const failures = run.failures.list;
  return {
    passed: failures.length === 0,
    failures,
    refused: run.refused.list,
    packetsIn,
    packetsOut,
    expectations: statements.filter(({ kind }) => kind === 'expect').length,
  };
}

/** The result as text, a line or more for each failure; ends with a newline. */
export function formatStfResult(result: StfResult): string {
  const lines = result.refused.map(({ line, message }) => `line ${line}: refused: ${message}`);
  for (const { line, message } of result.failures) lines.push(`line ${line}: ${message}`);
  const { packetsIn, packetsOut, expectations } = result;
  const counts = `${packetsIn} packets in, ${packetsOut} out, ${expectations} expected`;
  lines.push(`${result.passed ? 'passed' : `failed: ${result.failures.length}`} (${counts})`);
  return `${lines.join('\n')}\n`;
}
