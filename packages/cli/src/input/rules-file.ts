import { stat } from 'node:fs/promises';
import { type RuleProblem, type RuleSet, type RulesContext, RulesError } from '@int/detect';
import { aside } from '../aside/aside.js';
import { given } from '../given.js';
import { CliError, EXIT, FileProblems, type Io, MOST_TOLD } from '../io.js';
import { interruptedCode } from '../stopping.js';
import { readRulesText } from './rules-text.js';
import { readText } from './text-file.js';

const RULES_FILE = { name: 'rules file', mostBytes: 1 << 24 } as const;
/** Rules up to this length are read in some 100 ms; longer ones are read in another thread. */
const QUICK_LENGTH = 1 << 16;

/** The problems of a rule set, one line each, in the form of compilers. */
function ruleProblems(path: string, problems: readonly RuleProblem[], total: number, cause?: unknown): FileProblems {
  const lines = problems.slice(0, MOST_TOLD).map(({ line, column, path: keys, message }) => {
    const place = line === undefined ? keys.join('.') : `${line}:${column ?? 1}`;
    return `${path}:${place === '' ? '' : `${place}:`} ${message.replaceAll(/\s*\n\s*/g, ' ')}`;
  });
  return new FileProblems(lines, cause, EXIT.INPUT, total);
}

/** Warnings, one line each, and how many more there are. */
function warningLines(path: string, warnings: readonly RuleProblem[]): string[] {
  const lines = warnings.slice(0, MOST_TOLD).map(({ line, column, message }) => {
    return `${path}:${line ?? 1}:${column ?? 1}: warning: ${message}`;
  });
  const more = warnings.length - lines.length;
  return more > 0 ? [...lines, `${path}: and ${more} more warnings`] : lines;
}

/**
 * Calls `use`, and converts errors about the rules of a file.
 * @throws FileProblems if the rules are refused, CliError if memory for their state is insufficient
 */
export function usingRules<T>(path: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    if (RulesError.is(error)) throw ruleProblems(path, error.problems, error.problems.length, error);
    if (error instanceof RangeError) {
      throw new CliError(`no memory for so many cells: ${error.message}`, EXIT.USAGE, error);
    }
    throw error;
  }
}

export interface RulesFileOptions extends RulesContext {
  /** Takes warnings, a line each. Default: standard error. */
  readonly warn?: (line: string) => void;
}

/**
 * Reads a rules file, or standard input for `-`, and tells of rules that are never reached.
 * @throws FileProblems if its rules are invalid, CliError if it cannot be opened or read
 */
export async function readRulesFile(path: string, io: Io, options: RulesFileOptions = {}): Promise<RuleSet> {
  const text = await readText(path, RULES_FILE, io);
  const { warn = (line) => io.stderr.write(`${line}\n`), topology, profile } = options;
  const isNamed = topology !== undefined && topology.switches.size + topology.hosts.size > 0;
  const context = given({ topology: isNamed ? topology : undefined, profile });
  // Units and names stay in this thread.
  const isQuick = text.length <= QUICK_LENGTH || Object.keys(context).length > 0;
  const found = isQuick ? await readRulesText(text, context) : await aside('rules', text, io);
  if (found === null) throw new CliError('interrupted before the rules were read', interruptedCode(io));
  if ('ruleSet' in found) {
    for (const line of warningLines(path, found.ruleSet.warnings ?? [])) warn(line);
    return found.ruleSet;
  }
  throw ruleProblems(path, found.problems, found.total);
}

/** A signature of a file's content, obtained without reading it; '' if the file is missing. */
async function signatureOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return '';
  }
}

const POLL_MS = 200;

/**
 * Detects changes of a file on disk. It polls the file: this works on every file system, and for files that are
 * replaced instead of written.
 */
export class FileWatch {
  readonly #path: string;
  #onChange: () => void = () => {};
  #known: string;
  #last: string;
  #timer: NodeJS.Timeout | null = null;

  private constructor(path: string, signature: string) {
    this.#path = path;
    this.#known = signature;
    this.#last = signature;
  }

  /** Makes a watch with the file's present state. */
  static async of(path: string): Promise<FileWatch> {
    return new FileWatch(path, await signatureOf(path));
  }

  /** @param onChange called when the file differs from its first state, or from that at the last call */
  start(onChange: () => void): void {
    this.#onChange = onChange;
    this.#timer = setInterval(() => void this.#look(), POLL_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  async #look(): Promise<void> {
    const signature = await signatureOf(this.#path);
    const isSettled = signature === this.#last;
    this.#last = signature;
    // Wait until a file that is being written or replaced has settled.
    if (!isSettled || signature === '' || signature === this.#known || this.#timer === null) return;
    this.#known = signature;
    this.#onChange();
  }
}
