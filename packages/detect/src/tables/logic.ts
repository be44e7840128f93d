import { type Cnf, type Condition, MAX_CLAUSES, MAX_CONDITIONS } from '../expression/model.js';
import {
  AGGREGATE_NUMBERS,
  CONDITION_WORD,
  metricNumber,
  NO_METRIC_NUMBER,
  OPERATOR_NUMBERS,
  REGISTERS,
  USES_HISTORY,
} from './names.js';

/** A value for one cell of a register. */
export interface RegisterWrite {
  readonly register: string;
  readonly index: number;
  readonly value: bigint;
}

function conditionWord({ aggregate, metric, operator, constant }: Condition): bigint {
  const put = (field: keyof typeof CONDITION_WORD, value: number): bigint =>
    BigInt(value) << BigInt(CONDITION_WORD[field].low);
  return (
    put('constant', constant) |
    put('metric', metric === null ? NO_METRIC_NUMBER : metricNumber(metric)) |
    put('operator', OPERATOR_NUMBERS[operator]) |
    put('aggregate', AGGREGATE_NUMBERS[aggregate])
  );
}

/** Index of a condition's word in `logic_conditions`. */
function conditionIndex(expression: number, clause: number, condition: number): number {
  return (expression * MAX_CLAUSES + clause) * MAX_CONDITIONS + condition;
}

/**
 * The writes that put an expression into the logic registers: shape, metrics, history, and its conditions. Words of
 * other conditions keep what they held; the shape hides them.
 *
 * @param index cell of the expression; bank 1 begins at EXPRESSIONS
 */
export function logicWrites(expression: Cnf, index: number): RegisterWrite[] {
  let shape = 0n;
  let metrics = 0n;
  let history = 0n;
  const conditions: RegisterWrite[] = [];
  expression.forEach((clause, c) => {
    shape |= BigInt(clause.length) << BigInt(4 * c);
    clause.forEach((condition, k) => {
      const { aggregate, metric } = condition;
      if (metric !== null) metrics |= 1n << BigInt(metricNumber(metric));
      if (aggregate === 'delta' && metric !== null) history |= 1n << BigInt(metricNumber(metric));
      if (aggregate === 'delta' || aggregate === 'count') history |= 1n << BigInt(USES_HISTORY);
      const at = conditionIndex(index, c, k);
      conditions.push({ register: REGISTERS.logicConditions, index: at, value: conditionWord(condition) });
    });
  });
  return [
    { register: REGISTERS.logicClauses, index, value: shape },
    { register: REGISTERS.logicMetrics, index, value: metrics },
    { register: REGISTERS.logicHistory, index, value: history },
    ...conditions,
  ];
}
