// @ts-check
// Options of programs that measure. All of them understand `--short` and `--no-file`.
import { parseArgs } from 'node:util';

/** @typedef {import('node:util').ParseArgsConfig} ParseArgsConfig */
/** @typedef {NonNullable<ParseArgsConfig['options']>} Own */

const COMMON = /** @type {const} */ ({
  short: { type: 'boolean', default: false },
  'no-file': { type: 'boolean', default: false },
});

/**
 * Reads the options of a program.
 *
 * @template {Own} Options
 * @param {Options} own those that only this program has
 * @param {readonly string[]} [args]
 * @returns {ReturnType<typeof parseArgs<{ options: typeof COMMON & Options }>>['values']}
 * @throws TypeError for an option that it does not know
 */
export function readOptions(own, args = process.argv.slice(2)) {
  return parseArgs({ args: [...args], options: { ...COMMON, ...own } }).values;
}

/**
 * A whole number from an option.
 *
 * @param {string} name without the dashes
 * @param {string} text
 * @param {number} least
 * @param {number} [most]
 * @returns {number}
 * @throws RangeError if it is something else
 */
export function wholeNumber(name, text, least, most = Number.MAX_SAFE_INTEGER) {
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < least || value > most) {
    const range = most === Number.MAX_SAFE_INTEGER ? `from ${least} on` : `from ${least} to ${most}`;
    throw new RangeError(`--${name} must be a whole number ${range}, not ${text}`);
  }
  return value;
}

/**
 * The parts that `--only` names.
 *
 * @template {string} Part
 * @param {string | undefined} text
 * @param {readonly Part[]} known
 * @param {string} [option] where it has another name
 * @returns {readonly Part[] | null} null: all of them
 * @throws RangeError for a name that is none of them
 */
export function partsOf(text, known, option = 'only') {
  if (text === undefined) return null;
  return text.split(',').map((name) => {
    const part = known.find((each) => each === name);
    if (part === undefined) throw new RangeError(`--${option} takes ${known.join(', ')}, not "${name}"`);
    return part;
  });
}
