import { stat } from 'node:fs/promises';
import { type RuleProblem, type RuleSet, RulesError } from '@int/detect';
import { aside } from '../aside/aside.js';
import { TASKS } from '../aside/tasks.js';
import { CliError, EXIT, FileProblems, type Io, MOST_TOLD } from '../io.js';
import { interruptedCode } from '../stopping.js';
import { readText } from './text-file.js';

const RULES_FILE = { name: 'rules file', mostBytes: 1 << 24 } as const;
/** Characters that are read within some 100 ms: for more, a thread of its own is worth it. */
const QUICK_LENGTH = 1 << 16;

/** What is wrong with a rule set, one line each, as compilers write it. */
function ruleProblems(path: string, problems: readonly RuleProblem[], total: number, cause?: unknown): FileProblems {
  const lines = problems.slice(0, MOST_TOLD).map(({ line, column, path: keys, message }) => {
    const place = line === undefined ? keys.join('.') : `${line}:${column ?? 1}`;
    return `${path}:${place === '' ? '' : `${place}:`} ${message.replaceAll(/\s*\n\s*/g, ' ')}`;
  });
  return new FileProblems(lines, cause, EXIT.INPUT, total);
}

/**
 * Does something with the rules of a file.
 * @throws FileProblems if they are refused, CliError if there is no room for the state that they need
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

/**
 * Reads a rules file, or standard input for `-`.
 * @throws FileProblems if the rules in it cannot be used, CliError if it cannot be opened or read
 */
export async function readRulesFile(path: string, io: Io): Promise<RuleSet> {
  const text = await readText(path, RULES_FILE, io);
  const found = text.length <= QUICK_LENGTH ? await TASKS.rules(text) : await aside('rules', text, io);
  if (found === null) throw new CliError('interrupted before the rules were read', interruptedCode(io));
  if ('ruleSet' in found) return found.ruleSet;
  throw ruleProblems(path, found.problems, found.total);
}

/** What tells one content of a file from another without reading it; '' if there is no such file. */
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
 * Tells when a file has changed on disk. It looks at the file now and then: that works on every file system, and for
 * files that are replaced instead of written.
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

  /** The file as it is now. */
  static async of(path: string): Promise<FileWatch> {
    return new FileWatch(path, await signatureOf(path));
  }

  /** @param onChange called when the file is no longer what it was at first, or at the last call */
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
    // A file that is being written, or replaced, is looked at when it has come to rest.
    if (!isSettled || signature === '' || signature === this.#known || this.#timer === null) return;
    this.#known = signature;
    this.#onChange();
  }
}
