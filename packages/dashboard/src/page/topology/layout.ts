import type { TopologyAnswer } from '../../client/index.js';

/** Where things are, in a unit square whose origin is at the upper left. */
export interface Layout {
  readonly switches: ReadonlyMap<number, { readonly x: number; readonly y: number }>;
  readonly hosts: readonly {
    readonly name: string;
    readonly x: number;
    readonly y: number;
    readonly switchId: number;
  }[];
  /** Distance between two neighbours of the fullest row. */
  readonly gap: number;
}

/** Switches of a row at most; a tier with more has several rows. */
const MOST_IN_ROW = 64;
/** Hosts beyond which none is drawn: they would be a grey line. */
const MOST_HOSTS = 128;
const SWEEPS = 4;

/**
 * Switches in tiers, those next to hosts lowest; in a tier each stands near what it is linked to. A network of one tier is a
 * ring. The same network always gives the same picture.
 */
export function layoutOf({ switches, links, hosts }: Pick<TopologyAnswer, 'switches' | 'links' | 'hosts'>): Layout {
  const tiers = [...new Set(switches.map(({ tier }) => tier))].sort((a, b) => b - a);
  const places = new Map<number, { x: number; y: number }>();
  if (tiers.length === 1 && switches.length > 2) {
    const sorted = switches.map(({ id }) => id).sort((a, b) => a - b);
    for (const [index, id] of sorted.entries()) {
      const angle = (2 * Math.PI * index) / sorted.length - Math.PI / 2;
      places.set(id, { x: 0.5 + 0.4 * Math.cos(angle), y: 0.5 + 0.4 * Math.sin(angle) });
    }
    return { switches: places, hosts: [], gap: (0.8 * Math.PI) / sorted.length };
  }
  const rows = tiers.flatMap((tier) => {
    const ids = switches.filter((each) => each.tier === tier).map(({ id }) => id);
    const count = Math.ceil(ids.length / MOST_IN_ROW);
    return Array.from({ length: count }, (_, row) =>
      ids.slice(Math.floor((row * ids.length) / count), Math.floor(((row + 1) * ids.length) / count)),
    );
  });
  order(rows, neighboursOf(links));
  const shown = hosts.filter(({ switchId }) => switchId !== null).length <= MOST_HOSTS ? hosts : [];
  const height = rows.length + (shown.length > 0 ? 0.45 : 0);
  for (const [row, ids] of rows.entries()) {
    for (const [index, id] of ids.entries()) {
      places.set(id, { x: (index + 0.5) / ids.length, y: (row + 0.5) / height });
    }
  }
  const widest = Math.max(1, ...rows.map(({ length }) => length));
  return { switches: places, hosts: hostPlaces(shown, places, 1 / widest, 0.62 / height), gap: 1 / widest };
}

function neighboursOf(links: TopologyAnswer['links']): Map<number, number[]> {
  const neighbours = new Map<number, number[]>();
  for (const { from, to } of links) {
    const list = neighbours.get(from);
    if (list === undefined) neighbours.set(from, [to]);
    else list.push(to);
  }
  return neighbours;
}

/** Sorts each row by the mean place of its neighbours, down and up some times (Sugiyama's barycentre). */
function order(rows: number[][], neighbours: ReadonlyMap<number, readonly number[]>): void {
  const place = new Map<number, number>();
  const settle = (row: readonly number[]): void => {
    for (const [index, id] of row.entries()) place.set(id, (index + 0.5) / row.length);
  };
  for (const row of rows) {
    row.sort((a, b) => a - b);
    settle(row);
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const row of sweep % 2 === 0 ? [...rows].reverse() : rows) {
      const mean = new Map(
        row.map((id) => {
          const near = neighbours.get(id) ?? [];
          const sum = near.reduce((total, each) => total + (place.get(each) ?? 0.5), 0);
          return [id, near.length === 0 ? place.get(id)! : sum / near.length];
        }),
      );
      // Equal means keep the order of the ids: a fabric in which all are linked to all stays in order.
      row.sort((a, b) => Math.round((mean.get(a)! - mean.get(b)!) * 1e6) || a - b);
      settle(row);
    }
  }
}

function hostPlaces(
  hosts: TopologyAnswer['hosts'],
  places: ReadonlyMap<number, { readonly x: number; readonly y: number }>,
  gap: number,
  down: number,
): Layout['hosts'] {
  const bySwitch = new Map<number, string[]>();
  for (const { name, switchId } of hosts) {
    if (switchId === null) continue;
    const list = bySwitch.get(switchId);
    if (list === undefined) bySwitch.set(switchId, [name]);
    else list.push(name);
  }
  return [...bySwitch].flatMap(([switchId, names]) => {
    const at = places.get(switchId);
    if (at === undefined) return [];
    const step = (gap * 0.8) / names.length;
    return names.map((name, index) => ({
      name,
      switchId,
      x: at.x + step * (index - (names.length - 1) / 2),
      y: at.y + down,
    }));
  });
}
