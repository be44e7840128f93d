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
  /** Clauses of the minimal form, each as ascending numbers of conditions; all of them if they fit. */
  readonly clauses: readonly (readonly number[])[];
  /** If not, the last clause has too many conditions, or is one too many. */
  readonly fits: boolean;
}

/**
 * The minimal conjunctive normal form of a monotone function, or proof that it is too large.
 *
 * Multiplying out can be exponential even where nearly everything is absorbed in the end. Instead, this finds the
 * clauses one by one ("dualize and advance", Gunopulos et al., 2003):
 * - Search a choice of true conditions that satisfies all clauses known so far, but not the function. Without one, the
 *   clauses are complete.
 * - Add conditions to the choice as long as the function stays false. Those that are then missing are a clause: each
 *   choice that lacks them is false. It is minimal, because with any one of them the function can be true; and it is
 *   new, because the choice satisfies all known ones.
 *
 * The minimal clauses of a monotone function are unique. So one that is too wide, or a ninth one, proves that the form
 * does not fit. The search goes through at most 4^8 ways to pick a condition of each known clause.
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

/** Whether the function is true if exactly the chosen conditions are. */
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
 * @returns false if there is no such choice; `chosen` is then as before
 */
function choose(root: Monotone, clauses: readonly number[][], first: number, chosen: Uint8Array): boolean {
  // More conditions cannot make it false again.
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
