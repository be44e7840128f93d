import type { ControlOperands as Operands } from '../../client/index.js';

/** A piece of a formula. An operand has a value in the incident. */
export interface FormulaPart {
  readonly text: string;
  readonly isOperand: boolean;
}

/** A condition of a formula whose sides are numbers: what was measured against what it was compared with. */
export interface Comparison {
  readonly left: string;
  readonly sign: '<' | '<=' | '>' | '>=';
  readonly right: string;
  readonly measured: number;
  readonly threshold: number;
}

type TokenKind = 'operand' | 'number' | 'word' | 'sign' | 'space';
interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const NUMBER = /^\d+(?:\.\d+)?/;
const WORD = /^[A-Za-z_]\w*/;
const SIGN = /^(?:<=|>=|.)/su;
const isWordy = (letter: string | undefined): boolean => letter !== undefined && /\w/.test(letter);

/** Operands are the names of the incident, which may have blanks and parentheses in them. */
function tokensOf(formula: string, operands: Operands): Token[] {
  const names = Object.keys(operands).sort((a, b) => b.length - a.length);
  const tokens: Token[] = [];
  for (let at = 0; at < formula.length; ) {
    const rest = formula.slice(at);
    const name = isWordy(formula[at - 1])
      ? undefined
      : names.find((each) => rest.startsWith(each) && !(isWordy(each.at(-1)) && isWordy(rest[each.length])));
    const [kind, text]: [TokenKind, string] =
      name !== undefined && name !== ''
        ? ['operand', name]
        : rest[0] === ' '
          ? ['space', ' ']
          : NUMBER.test(rest)
            ? ['number', NUMBER.exec(rest)![0]]
            : WORD.test(rest)
              ? ['word', WORD.exec(rest)![0]]
              : ['sign', SIGN.exec(rest)![0]];
    tokens.push({ kind, text });
    at += text.length;
  }
  return tokens;
}

const isJoin = ({ kind, text }: Token): boolean => kind === 'word' && (text === 'and' || text === 'or');

/**
 * A formula in pieces. A name in the middle of a sentence is no operand: `to a port of administration` does not speak of the
 * operand `port`. It stands beside a sign, at a bracket, or at an end of a condition.
 */
export function partsOf(formula: string, operands: Operands): readonly FormulaPart[] {
  const tokens = tokensOf(formula, operands);
  const near = (index: number, by: 1 | -1): Token | undefined =>
    tokens[index + by]?.kind === 'space' ? tokens[index + 2 * by] : tokens[index + by];
  let depth = 0;
  return tokens.map(({ kind, text }, index) => {
    if (text === '(') depth++;
    if (text === ')') depth--;
    const isEdge = (token: Token | undefined): boolean =>
      token === undefined || isJoin(token) || (token.kind === 'sign' && (token.text !== ',' || depth > 0));
    return { text, isOperand: kind === 'operand' && (isEdge(near(index, -1)) || isEdge(near(index, 1))) };
  });
}

const COMPARISONS: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);

/** The conditions of a formula that can be calculated. Conditions in words, or with numbers that nobody has told, are left out. */
export function comparisonsOf(formula: string, operands: Operands): readonly Comparison[] {
  const tokens = tokensOf(formula, operands).filter(({ kind }) => kind !== 'space');
  return tokens.flatMap(({ text }, index): Comparison[] => {
    if (!COMPARISONS.has(text)) return [];
    const before = sideOf(tokens, index, -1);
    const right = sideOf(tokens, index, 1);
    // Of `S = max(0, S + z) > h` the name is enough.
    const equals = tokens[index - before.length - 1];
    const name = tokens[index - before.length - 2];
    const left = equals?.text === '=' && name?.kind === 'operand' ? [name] : before;
    const [measured, threshold] = [resultOf(left, operands), resultOf(right, operands)];
    if (measured === null || threshold === null) return [];
    return [{ left: textOf(left), sign: text as Comparison['sign'], right: textOf(right), measured, threshold }];
  });
}

/** What stands on one side of a sign, up to the end of its condition. */
function sideOf(tokens: readonly Token[], index: number, by: 1 | -1): readonly Token[] {
  const [opening, closing] = by === 1 ? ['(', ')'] : [')', '('];
  const side: Token[] = [];
  let depth = 0;
  for (let at = index + by; at >= 0 && at < tokens.length; at += by) {
    const token = tokens[at]!;
    if (token.text === opening) depth++;
    else if (token.text === closing && --depth < 0) break;
    else if (depth === 0 && (isJoin(token) || token.text === ',' || token.text === '=' || COMPARISONS.has(token.text)))
      break;
    side.push(token);
  }
  return by === 1 ? side : side.reverse();
}

function textOf(tokens: readonly Token[]): string {
  return tokens
    .map(({ text }) => text)
    .join(' ')
    .replace(/\( | \)|\w+ \(| ,/g, (text) => text.replace(' ', ''));
}

const FUNCTIONS: Readonly<Record<string, (...values: number[]) => number>> = {
  ln: Math.log,
  max: Math.max,
  min: Math.min,
  mean: (...values) => values.reduce((sum, value) => sum + value, 0) / values.length,
};

/** The value of an expression; `null`: it is none, or an operand is no number. Words behind it only say more of it. */
function resultOf(tokens: readonly Token[], operands: Operands): number | null {
  let at = 0;
  const isNext = (text: string): boolean => tokens[at]?.text === text && ++at > 0;
  const atom = (): number => {
    const token = tokens[at++];
    if (token?.kind === 'number') return Number(token.text);
    if (token?.kind === 'operand') {
      const value = operands[token.text];
      return typeof value === 'number' ? value : Number.NaN;
    }
    if (token?.text === '(') {
      const value = sum();
      return isNext(')') ? value : Number.NaN;
    }
    const called = token?.kind === 'word' && Object.hasOwn(FUNCTIONS, token.text) ? FUNCTIONS[token.text] : undefined;
    if (called === undefined || !isNext('(')) return Number.NaN;
    const values = [sum()];
    while (isNext(',')) values.push(sum());
    return isNext(')') ? called(...values) : Number.NaN;
  };
  const power = (): number => {
    const base = atom();
    return isNext('^') ? base ** power() : base;
  };
  const product = (): number => {
    let value = power();
    for (;;) {
      if (isNext('*')) value *= power();
      else if (isNext('/')) value /= power();
      else return value;
    }
  };
  function sum(): number {
    let value = product();
    for (;;) {
      if (isNext('+')) value += product();
      else if (isNext('-')) value -= product();
      else return value;
    }
  }
  const value = sum();
  const isWhole = tokens.slice(at).every(({ kind }) => kind === 'word' || kind === 'operand');
  return isWhole && Number.isFinite(value) ? value : null;
}
