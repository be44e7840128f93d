import type { DesiredState } from '@int/control';
import type { Entity } from '@int/p4runtime';
import type { FakeSwitch, SwitchSetting } from './fake-switch.js';

/** A network whose switches are reconciled: what is wanted of them, and where their packets go. */
export interface ModelNetwork {
  /** 1, 2, ... */
  readonly ids: readonly number[];
  /** What is wanted now, for messages. */
  readonly text: string;
  setting(): SwitchSetting;
  /** Something else is wanted. */
  change(): DesiredState;
  /** Something of another controller. */
  foreign(): Entity;
  /** Whether something of another controller may be where this one wants something. */
  isInTheWay(key: string): boolean;
  /** Whether it decides where packets go. */
  isForwarding(entity: Entity): boolean;
  leadsTo(switchId: number, entity: Entity, contents: readonly Entity[]): readonly number[];
  /** Where packets circle: the flows, each with the switches of its circle. */
  circles(switches: readonly FakeSwitch[]): Map<string, readonly number[]>;
}
