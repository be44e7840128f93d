import { useState } from 'preact/hooks';
import type { TopologyAnswer } from '../../client/index.js';
import { clockText, durationText, historyText, percentText } from '../format/text.js';
import { Empty, Panel } from '../parts/panel.js';
import { useAnswer } from '../state/answers.js';
import { client, isLive, newest, status, useLive } from '../state/connection.js';
import { at, go, keep, kept } from '../state/location.js';
import { entityName, network, switchName } from '../state/network.js';
import { useSelection } from '../state/selection.js';
import { LinkDetails, SwitchDetails } from '../topology/details.js';
import { NetworkMap } from '../topology/map.js';
import type { Picked } from '../topology/picture.js';

/** The network as it is, or as it was at the time that the slider chooses. */
export function TopologyView() {
  const [live, setLive] = useState<TopologyAnswer | null>(null);
  useLive(isLive.value ? { type: 'topology' } : null, (message) => {
    if (message.type === 'topology') setLive(message.data);
  });
  const stopped = at.value;
  const asked = useAnswer(String(stopped), stopped === null ? null : (signal) => client.topology(stopped, { signal }));
  const topology = stopped === null ? (live ?? network.value) : (asked.data ?? live ?? network.value);
  const picked = pickedOf(kept('pick'));
  const pick = (next: Picked | null): void =>
    keep({ pick: next === null ? '' : next.kind === 'switch' ? `switch:${next.id}` : next.key });

  if (stopped !== null && asked.data?.empty != null) return <Empty>{asked.data.empty}</Empty>;
  if (topology === null) return <Empty>Waiting for the network.</Empty>;
  if (topology.switches.length === 0) {
    return (
      <Empty>
        No switch is known yet. The map is learnt from the paths of telemetry reports, or read from a topology file:
        start <code>int collect</code> with <code>--topology FILE</code>.
      </Empty>
    );
  }
  const link = picked?.kind === 'link' ? topology.links.find(({ key }) => key === picked.key) : undefined;
  return (
    <div class="split topology">
      <Panel
        title="Network"
        note={`${topology.switches.length} switches, ${topology.links.length} links${topology.learnt ? ', learnt from telemetry' : ''}${historyText(topology)}`}
        tools={<Slider />}
        isFlush
        error={asked.error}
      >
        <NetworkMap topology={topology} picked={picked} path={[]} onPick={pick} />
      </Panel>
      <div class="side">
        {picked !== null && (
          <button type="button" class="link" onClick={() => pick(null)}>
            ‹ all links and switches
          </button>
        )}
        {picked === null && <Overview topology={topology} onPick={pick} />}
        {link !== undefined && <LinkDetails link={link} onPick={pick} />}
        {picked?.kind === 'switch' && <SwitchDetails id={picked.id} topology={topology} onPick={pick} />}
        {picked?.kind === 'link' && link === undefined && <Empty>This link is not known at this time.</Empty>}
      </div>
    </div>
  );
}

function pickedOf(text: string): Picked | null {
  const [, id] = /^switch:(\d+)$/.exec(text) ?? [];
  if (id !== undefined) return { kind: 'switch', id: Number(id) };
  return text.startsWith('link:') ? { kind: 'link', key: text } : null;
}

/** Chooses a time of those that are retained. */
function Slider() {
  const retained = status.value?.retained;
  const from = retained?.from ?? null;
  const to = newest.value ?? retained?.to ?? null;
  if (from === null || to === null || to <= from) return <span class="dim">nothing is retained yet</span>;
  const value = at.value ?? to;
  if (value < from) return <span class="mono">{clockText(value)}, before what is retained</span>;
  return (
    <label class="row slider">
      <span class="dim">-{durationText(to - from)}</span>
      <input
        type="range"
        aria-label="Time of the map"
        aria-valuetext={clockText(value)}
        min={String(from)}
        max={String(to)}
        step="100"
        value={String(value)}
        onInput={(event) => {
          const chosen = Number(event.currentTarget.value);
          go({ at: chosen >= to - 200 ? null : chosen }, true);
        }}
      />
      <span class="mono">{at.value === null ? 'now' : clockText(value)}</span>
    </label>
  );
}

const MOST_LISTED = 200;

/** All links, the most loaded first and those that are down before them. */
function Overview({
  topology,
  onPick,
}: {
  readonly topology: TopologyAnswer;
  readonly onPick: (picked: Picked) => void;
}) {
  const weight = (link: TopologyAnswer['links'][number]): number => (link.state === 'down' ? 2 : (link.load ?? -1));
  const links = [...topology.links].sort((a, b) => weight(b) - weight(a)).slice(0, MOST_LISTED);
  const { row, select } = useSelection(links.length, 'link', (index) =>
    onPick({ kind: 'link', key: links[index]!.key }),
  );
  return (
    <>
      <Panel
        title="Links"
        note={`by load${topology.links.length > MOST_LISTED ? `, the first ${MOST_LISTED}` : ''}`}
        isFlush
      >
        {links.length === 0 ? (
          <Empty>No link is known yet: they are learnt from paths of two or more switches.</Empty>
        ) : (
          <table>
            <tbody>
              {links.map((link, index) => (
                <tr key={link.key} data-row aria-selected={index === row} onPointerDown={() => select(index)}>
                  <td class="cut">
                    <button type="button" class="link" onClick={() => onPick({ kind: 'link', key: link.key })}>
                      {entityName(link.key)}
                    </button>
                  </td>
                  <td class={link.state === 'down' ? 'num bad' : 'num'}>
                    {link.state === 'up' ? percentText(link.load) : link.state}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Panel>
      <Panel title="Switches" isFlush>
        <ul class="chips">
          {topology.switches.slice(0, MOST_LISTED).map(({ id }) => (
            <li key={id}>
              <button type="button" onClick={() => onPick({ kind: 'switch', id })}>
                {switchName(id)}
              </button>
            </li>
          ))}
        </ul>
      </Panel>
    </>
  );
}
