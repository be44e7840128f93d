import { type Expression, MAX_CLAUSES, MAX_CONDITIONS } from './model.js';

/** An expression without `not`: a monotone function of its conditions, which are numbers here. */
export type Monotone =
  | { readonly type: 'condition'; readonly index: number; readonly source: Source }
  | { readonly type: 'and' | 'or'; readonly operands: readonly Monotone[]; readonly source: Source };

/** What a part was made of. */
export interface Source {
  readonly expression: Expression;
  /** Whether it stands for the contrary, because of a `not` outside of it. */
  readonly isNegated: boolean;
}

/** What {@link minimalClauses} found. */
export interface MinimalClauses {
  /** Clauses of the minimal form, as numbers of conditions, each ascending: all of them if they fit. */
  readonly clauses: readonly (readonly number[])[];
  /** If not: the last clause has too many conditions, or is one clause too many. */
  readonly fits: boolean;
}

/**
 * The minimal conjunctive normal form of a monotone function, or proof that it is too large.
 *
 * Multiplying out can be exponential even where nearly everything is absorbed in the end. Instead, the clauses are found
 * one by one ("dualize and advance", Gunopulos et al., 2003). The clauses known so far are wrong as long as they
 * hold for some choice of true conditions for which the function is false. Conditions are added to such a choice as long
 * as it stays false; then those that are missing are a clause, and a minimal one: each choice that lacks them is
 * false, and with any one of them the function can be true. It is new, since the choice met all known ones. The minimal
 * clauses of a monotone function are unique: one that is too wide, or a ninth one, is proof that the form does not fit.
 *
 * The search for a choice goes through at most 4^8 ways to pick a condition of each known clause.
 */
export function minimalClauses(root: Monotone, conditionCount: number): MinimalClauses {
  const members = new Set<number>();
  collect(root, members);
  const clauses: number[][] = [];
  const chosen = new Uint8Array(conditionCount);

  while (choose(root, clauses, 0, chosen)) {
    for (const index of members) {
      if (chosen[index] === 1) continue;
      chosen[index] = 1;
      if (holds(root, chosen)) chosen[index] = 0;
    }
    const clause = [...members].filter((index) => chosen[index] === 0);
    clauses.push(clause.sort((a, b) => a - b));
    if (clause.length > MAX_CONDITIONS || clauses.length > MAX_CLAUSES) return { clauses, fits: false };
    chosen.fill(0);
  }
  return { clauses, fits: true };
}

function collect(node: Monotone, members: Set<number>): void {
  if (node.type === 'condition') members.add(node.index);
  else for (const operand of node.operands) collect(operand, members);
}

/** Whether the function is true if the chosen conditions are, and no others. */
function holds(node: Monotone, chosen: Uint8Array): boolean {
  switch (node.type) {
    case 'condition':
      return chosen[node.index] === 1;
    case 'and':
      for (const operand of node.operands) if (!holds(operand, chosen)) return false;
      return true;
    case 'or':
      for (const operand of node.operands) if (holds(operand, chosen)) return true;
      return false;
  }
}

/**
 * Adds conditions to those chosen until the clauses from `first` on hold but the function does not.
 *
 * @returns false if there is no such choice; then `chosen` is as before
 */
function choose(root: Monotone, clauses: readonly number[][], first: number, chosen: Uint8Array): boolean {
  // More conditions can only make it true.
  if (holds(root, chosen)) return false;
  let place = first;
  while (place < clauses.length && clauses[place]!.some((index) => chosen[index] === 1)) place++;
  if (place === clauses.length) return true;
  for (const index of clauses[place]!) {
    chosen[index] = 1;
    if (choose(root, clauses, place + 1, chosen)) return true;
    chosen[index] = 0;
  }
  return false;
}
