import {
  amountOfBigInt,
  amountOfWords,
  clampBig,
  divide,
  divideBig,
  modulo,
  moduloBig,
  shiftLeft,
  shiftLeftBig,
  shiftRight,
  shiftRightBig,
  shiftRightSigned,
} from './arithmetic.js';
import { formatLog } from './log-format.js';
import { BitBuffer, growOutput, sum16 } from './packing.js';
import { copyVarbit, equalVarbits, formatVarbit, loadVarbit, storeVarbit, Varbit } from './varbit.js';
import { join2, join3, join4, joinWords, split2, splitWords, word } from './wide.js';

/** The functions that generated code calls by name. */
export const machine = /* @__PURE__ */ Object.freeze({
  amountOfBigInt,
  amountOfWords,
  clampBig,
  divide,
  divideBig,
  modulo,
  moduloBig,
  shiftLeft,
  shiftLeftBig,
  shiftRight,
  shiftRightBig,
  shiftRightSigned,
  formatLog,
  BitBuffer,
  growOutput,
  sum16,
  copyVarbit,
  equalVarbits,
  formatVarbit,
  loadVarbit,
  storeVarbit,
  Varbit,
  join2,
  join3,
  join4,
  joinWords,
  split2,
  splitWords,
  word,
});

/** Name of a function in `machine`. */
export type MachineName = keyof typeof machine;
