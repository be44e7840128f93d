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
  /** Takes the text, when its rules can be used. */
  readonly onText?: (text: string) => void;
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
    options.onText?.(text);
    return found.ruleSet;
  }
  throw ruleProblems(path, found.problems, found.total);
}
