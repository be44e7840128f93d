import { CONTROL_CASES } from './control-cases.js';
import type { HostileCase } from './hostile-case.js';
import { INSTANCE_CASES } from './instance-cases.js';
import { NAME_CASES } from './name-cases.js';
import { PACKET_CASES } from './packet-cases.js';
import { TEXT_CASES } from './text-cases.js';
import { TYPE_CASES } from './type-cases.js';

export const CASES: readonly HostileCase[] = [
  ...TEXT_CASES,
  ...TYPE_CASES,
  ...NAME_CASES,
  ...INSTANCE_CASES,
  ...PACKET_CASES,
  ...CONTROL_CASES,
];
