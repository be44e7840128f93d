import type { Table } from '../table/table.js';
import { AddressDictionary, PathDictionary, TextDictionary } from './dictionary.js';
import type { Slab } from './slab.js';

export type DictionaryName = keyof Segment['texts'];

/** Rows of one table and one hour that become one file. */
export class Segment {
  readonly table: Table;
  /** Hours since 1970-01-01 00:00 UTC. */
  readonly hour: number;
  /** When its first row came, in ms of a clock that only goes forward. */
  readonly openedAt: number;
  readonly slabs: Slab[] = [];
  /** By column. */
  readonly texts = {
    source: new AddressDictionary(),
    destination: new AddressDictionary(),
    path: new PathDictionary(),
    rule: new TextDictionary(),
    event: new TextDictionary(),
    key: new TextDictionary(),
    reserved: new TextDictionary(),
  };
  rows = 0;
  records = 0;

  constructor(table: Table, hour: number, openedAt: number) {
    this.table = table;
    this.hour = hour;
    this.openedAt = openedAt;
  }

  /** The slab that rows go to; `null` if there is none with room for `rows`. */
  room(rows: number, slabRows: number): Slab | null {
    const last = this.slabs[this.slabs.length - 1];
    return last !== undefined && last.rows + rows <= slabRows ? last : null;
  }
}
