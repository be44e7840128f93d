/** What int control does, on the terminal and in a file. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lockFolder } from '@int/collector/internals';
import {
  ControllerMemoryError,
  ControllerMemoryFile,
  type EventThreshold,
  type Intent,
  Journal,
  type JournalEntry,
  type LoopNote,
  type Proposal,
  type WrittenChanges,
} from '@int/control';
import type { Incident } from '@int/knowledge';
import { CliError, EXIT, openFailure } from '../io.js';
import { closedLine, incidentJson, incidentLines } from '../knowledge/incident-text.js';
import type { KnownNetwork } from '../network/known-network.js';
import type { Colours } from '../output/colour.js';
import { spanText } from '../output/flow-table.js';
import { counted } from '../output/numbers.js';
import type { PacedOutput } from '../output/paced-output.js';
import { printable } from '../output/printable.js';
import { changeText, jsonOf } from './entity-text.js';
import { LoopFile } from './loop-file.js';
import { thresholdText } from './threshold-text.js';
import { intentText } from './view/intent-text.js';

/** What was seen and decided, and every change of a switch. */
const LOOP_FILE = 'loop.jsonl';
const CHANGES_FILE = 'changes.jsonl';
/** What the loop knows, for after a restart. */
const MEMORY_FILE = 'memory.json';
/** Entries of a change that are shown on the terminal; the file has all. */
const MOST_SHOWN = 8;

const clock = (timeMs: number): string => new Date(timeMs).toISOString().slice(11, 23);

/** The journal: a line for each thing that happens. */
export class ControlJournal {
  /** Lines that the terminal's reader was too slow for. */
  notShown = 0;
  readonly #output: PacedOutput;
  readonly #isJson: boolean;
  readonly #network: KnownNetwork;
  readonly #colour: Colours;
  readonly #file: LoopFile | null;
  /** Every change with what was there before and after; without a folder in memory alone. */
  readonly changes: Journal;
  /** `null`: nowhere. */
  readonly memory: ControllerMemoryFile | null;
  readonly #unlock: () => void;
  #isClosed = false;

  private constructor(
    output: PacedOutput,
    isJson: boolean,
    network: KnownNetwork,
    colour: Colours,
    file: LoopFile | null,
    changes: Journal,
    memory: ControllerMemoryFile | null,
    unlock: () => void,
  ) {
    this.#output = output;
    this.#isJson = isJson;
    this.#network = network;
    this.#colour = colour;
    this.#file = file;
    this.changes = changes;
    this.memory = memory;
    this.#unlock = unlock;
  }

  /** @param folder where files are; `null`: nowhere. @throws CliError (rejects) if that cannot be, or what is there is damaged */
  static async open(
    output: PacedOutput,
    isJson: boolean,
    network: KnownNetwork,
    colour: Colours,
    folder: string | null,
  ): Promise<ControlJournal> {
    if (folder === null)
      return new ControlJournal(output, isJson, network, colour, null, new Journal(), null, () => {});
    let unlock: () => void = () => {};
    try {
      await mkdir(folder, { recursive: true });
      unlock = lockFolder(folder, inUse);
      const memory = memoryOf(folder);
      const file = await LoopFile.open(join(folder, LOOP_FILE));
      const changes = await Journal.open(join(folder, CHANGES_FILE));
      return new ControlJournal(output, isJson, network, colour, file, changes, memory, unlock);
    } catch (error) {
      unlock();
      if (error instanceof CliError) throw error;
      throw new CliError(`journal ${folder}: ${openFailure(error)}`, EXIT.OPEN, error);
    }
  }

  /** Lines that the disk was too slow for, or did not take. */
  get notWritten(): number {
    return this.#file?.dropped ?? 0;
  }

  /** Why it cannot be written; `null`: it can. */
  get failure(): Error | null {
    return this.#file?.failure ?? this.memory?.error ?? null;
  }

  incident(incident: Incident): void {
    const lines =
      incident.state === 'close'
        ? [closedLine(incident, this.#network.topology, this.#colour)]
        : incidentLines(incident, this.#network, this.#colour);
    this.#tell(incidentJson(incident, this.#network.topology), lines);
  }

  note(note: LoopNote, proposal: Proposal | null): void {
    const { atMs, what, by, reason } = note;
    const name = note.proposal === null ? '' : ` ${note.proposal}`;
    const lines = [`${clock(atMs)}  ${this.#colour.bold(what)}${name} by ${by}: ${printable(reason)}`];
    if (what === 'proposed' && proposal !== null) {
      for (const intent of proposal.intents.slice(0, MOST_SHOWN)) {
        const { ttlMs } = intent;
        const span = ttlMs === null ? '' : ` for ${spanText(1e6 * ttlMs)}`;
        lines.push(`  ${printable(intentText(intent, this.#network.topology))}${span}`);
      }
    }
    if (proposal?.rehearsal != null && (what === 'approved' || what === 'refused')) {
      const { moved, dropped, highest, steps } = proposal.rehearsal;
      const load = (share: number): string => `${(100 * share).toFixed(1)} %`;
      const loads = highest === null ? '' : `, highest load ${load(highest.before)} -> ${load(highest.after)}`;
      lines.push(
        `  rehearsed in ${counted(steps.length, 'step')}: ${counted(moved, 'flow')} moved, ${dropped} dropped${loads}`,
      );
    }
    this.#tell({ type: 'note', ...note, ...(what === 'proposed' && { intents: proposal?.intents }) }, lines);
  }

  /** @returns the entries in the journal of changes */
  written(written: WrittenChanges): readonly JournalEntry[] {
    const { switchId, atMs, cause, results } = written;
    const entries = this.changes.record(written);
    const name = this.#network.topology.switchText(switchId);
    const lines = [
      `${clock(atMs)}  ${name}: ${counted(results.length, 'entry', 'entries')} by ${printable(cause.owner)}: ${printable(cause.reason)}`,
    ];
    for (const [index, { change, result, message }] of results.slice(0, MOST_SHOWN).entries()) {
      lines.push(
        `  ${entries[index]!.id} ${printable(changeText(change))}${result === 'done' ? '' : ` ${result}: ${printable(message)}`}`,
      );
    }
    const more = results.length - MOST_SHOWN;
    if (more > 0) lines.push(`  and ${more} more, to ${entries.at(-1)!.id}`);
    const numbered = results.map((each, index) => ({ entry: entries[index]!.id, ...each }));
    this.#tell({ type: 'written', switchId, switch: name, atMs, cause, results: numbered }, lines);
    return entries;
  }

  /** Thresholds of rules in switches, as they are now. */
  thresholds(thresholds: readonly EventThreshold[]): void {
    const lines = thresholds.map((each) => thresholdText(each, this.#network.topology));
    this.#tell({ type: 'thresholds', thresholds }, lines.length === 0 ? ['no switch has a rule'] : lines);
  }

  /** Also if it is closed already. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.memory?.close();
    await this.changes.close();
    await this.#file?.close();
    this.#unlock();
  }

  #tell(object: unknown, lines: readonly string[]): void {
    const json = this.#isJson || this.#file !== null ? JSON.stringify(jsonOf(object)) : '';
    this.#file?.write(json);
    for (const line of this.#isJson ? [json] : lines) {
      if (this.#output.isFull) this.notShown++;
      else this.#output.add(line);
    }
    void this.#output.flush();
  }
}

/** Two controllers that write one memory would forget what the other has made. */
function inUse(who: string, folder: string): CliError {
  const advice = 'a second controller needs a folder of its own';
  return new CliError(`journal ${folder}: ${who} uses it; ${advice}`, EXIT.OPEN);
}

/** What the loop knew before a restart. @throws CliError if it is damaged: the switches would lose what the loop has made */
export function memoryOf(folder: string): ControllerMemoryFile {
  const path = join(folder, MEMORY_FILE);
  try {
    return new ControllerMemoryFile(path);
  } catch (error) {
    if (!ControllerMemoryError.is(error)) throw new CliError(`${path}: ${openFailure(error)}`, EXIT.OPEN, error);
    const advice =
      'without it all that the loop has made would be removed from the switches: restore it, or move it away';
    throw new CliError(`${error.message}; ${advice}`, EXIT.OPEN, error);
  }
}

/** Intents of people, in force since they were there first, whatever has been restarted. */
export function sinceBegun(intents: readonly Intent[], memory: ControllerMemoryFile | null): readonly Intent[] {
  const begun = new Map(memory?.memory?.loop.begun);
  return intents.map((intent) => ({ ...intent, fromMs: begun.get(intent.id) ?? intent.fromMs }));
}
