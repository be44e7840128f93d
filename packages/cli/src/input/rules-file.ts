import { type RuleProblem, type RuleSet, RulesError } from '@int/detect';
import { aside } from '../aside/aside.js';
import { TASKS } from '../aside/tasks.js';
import { CliError, EXIT, FileProblems, type Io, MOST_TOLD } from '../io.js';
import { interruptedCode } from '../stopping.js';
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

/**
 * Reads a rules file, or standard input for `-`.
 * @throws FileProblems if its rules are invalid, CliError if it cannot be opened or read
 */
export async function readRulesFile(path: string, io: Io): Promise<RuleSet> {
  const text = await readText(path, RULES_FILE, io);
  const found = text.length <= QUICK_LENGTH ? await TASKS.rules(text) : await aside('rules', text, io);
  if (found === null) throw new CliError('interrupted before the rules were read', interruptedCode(io));
  if ('ruleSet' in found) return found.ruleSet;
  throw ruleProblems(path, found.problems, found.total);
}
