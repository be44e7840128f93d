import type * as p4config from '../messages/p4config.js';
import { P4InfoError } from './p4info-error.js';

/** Kinds of objects, and what each is in P4Info. */
export interface P4InfoObjects {
  readonly table: p4config.Table;
  readonly action: p4config.Action;
  readonly actionProfile: p4config.ActionProfile;
  readonly counter: p4config.Counter;
  readonly directCounter: p4config.DirectCounter;
  readonly meter: p4config.Meter;
  readonly directMeter: p4config.DirectMeter;
  readonly controllerHeader: p4config.ControllerPacketMetadata;
  readonly valueSet: p4config.ValueSet;
  readonly register: p4config.Register;
  readonly digest: p4config.Digest;
}

export type P4InfoKind = keyof P4InfoObjects;

const LISTS = {
  table: 'tables',
  action: 'actions',
  actionProfile: 'actionProfiles',
  counter: 'counters',
  directCounter: 'directCounters',
  meter: 'meters',
  directMeter: 'directMeters',
  controllerHeader: 'controllerPacketMetadata',
  valueSet: 'valueSets',
  register: 'registers',
  digest: 'digests',
} as const satisfies Readonly<Record<P4InfoKind, keyof p4config.P4Info>>;

/** Kinds as people call them. */
const WORDS: Readonly<Record<P4InfoKind, string>> = {
  table: 'table',
  action: 'action',
  actionProfile: 'action profile',
  counter: 'counter',
  directCounter: 'direct counter',
  meter: 'meter',
  directMeter: 'direct meter',
  controllerHeader: 'controller header',
  valueSet: 'value set',
  register: 'register',
  digest: 'digest',
};

type AnyObject = P4InfoObjects[P4InfoKind];

/** The objects of a P4Info by id, name and alias. */
export class P4InfoIndex {
  readonly #byId = new Map<P4InfoKind, Map<number, AnyObject>>();
  readonly #byName = new Map<P4InfoKind, Map<string, AnyObject>>();

  constructor(readonly info: p4config.P4Info) {
    for (const kind of Object.keys(LISTS) as P4InfoKind[]) {
      const ids = new Map<number, AnyObject>();
      const names = new Map<string, AnyObject>();
      for (const each of info[LISTS[kind]] as readonly AnyObject[]) {
        const { id = 0, name = '', alias = '' } = each.preamble ?? {};
        ids.set(id, each);
        // A name goes before the alias of another.
        if (alias !== '' && !names.has(alias)) names.set(alias, each);
        names.set(name, each);
      }
      this.#byId.set(kind, ids);
      this.#byName.set(kind, names);
    }
  }

  /** All objects of a kind. */
  all<Kind extends P4InfoKind>(kind: Kind): readonly P4InfoObjects[Kind][] {
    return this.info[LISTS[kind]] as readonly AnyObject[] as readonly P4InfoObjects[Kind][];
  }

  /** The object with an id; undefined if there is none. */
  find<Kind extends P4InfoKind>(kind: Kind, id: number): P4InfoObjects[Kind] | undefined {
    return this.#byId.get(kind)?.get(id) as P4InfoObjects[Kind] | undefined;
  }

  /**
   * The object with a name, an alias, or a name that ends in this one after a dot.
   *
   * @throws P4InfoError `ERR_P4INFO_UNKNOWN`, or `ERR_P4INFO_AMBIGUOUS` if several names end so
   */
  named<Kind extends P4InfoKind>(kind: Kind, name: string): P4InfoObjects[Kind] {
    const known = this.#byName.get(kind)?.get(name);
    if (known !== undefined) return known as P4InfoObjects[Kind];
    const matching = this.all(kind).filter((each) => each.preamble?.name.endsWith(`.${name}`) === true);
    const [first] = matching;
    if (first !== undefined && matching.length === 1) return first;
    if (first === undefined) throw new P4InfoError('ERR_P4INFO_UNKNOWN', `there is no ${WORDS[kind]} ${name}`);
    const names = matching.map((each) => each.preamble?.name).join(', ');
    throw new P4InfoError('ERR_P4INFO_AMBIGUOUS', `several ${WORDS[kind]}s end in ${name}: ${names}`);
  }

  /** The name of an object by its id; the id in hexadecimal if there is none. */
  nameOf(kind: P4InfoKind, id: number): string {
    return this.find(kind, id)?.preamble?.name ?? `0x${id.toString(16).padStart(8, '0')}`;
  }
}
