import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { countText, durationText, shortState } from '../format/text.js';
import { isLive, liveState, status, trouble } from '../state/connection.js';
import { useKeys } from '../state/keyboard.js';
import { addressOf, at, filter, go, replay, VIEWS, type View, view } from '../state/location.js';
import { switchTheme, theme } from '../state/theme.js';
import { Now } from '../views/now.js';
import { FilterBar } from './filter-bar.js';
import { Help } from './help.js';
import { Empty } from './panel.js';
import { ReplayBar } from './replay-bar.js';
import { TimeBar } from './time-bar.js';

const NAMES: Readonly<Record<View, string>> = {
  now: 'Now',
  topology: 'Topology',
  series: 'Series',
  table: 'Table',
  events: 'Events',
  rules: 'Rules',
  history: 'History',
  incidents: 'Incidents',
  control: 'Control',
};

/** More than this is told as more: a tab is narrow. */
const MOST_COUNTED = 999;

/** The first view is there at once; the others come when they are opened. */
const LOADERS: Readonly<Record<Exclude<View, 'now'>, () => Promise<ComponentType>>> = {
  topology: async () => (await import('../views/topology.js')).TopologyView,
  series: async () => (await import('../views/series.js')).SeriesView,
  table: async () => (await import('../views/table.js')).TableView,
  events: async () => (await import('../views/events.js')).EventsView,
  rules: async () => (await import('../views/rules.js')).RulesView,
  history: async () => (await import('../views/history.js')).HistoryView,
  incidents: async () => (await import('../views/incidents.js')).IncidentsView,
  control: async () => (await import('../views/control.js')).ControlView,
};

const loaded = new Map<View, ComponentType>([['now', Now]]);

export function Shell() {
  const [isHelp, setHelp] = useState(false);
  useKeys([
    ...VIEWS.map((each, index) => ({ key: String(index + 1), text: NAMES[each], run: () => go({ view: each }) })),
    { key: '?', text: 'this help', run: () => setHelp((now) => !now) },
    { key: 't', text: 'light or dark', run: switchTheme },
    { key: 'Escape', text: 'back: close what is open, empty the filter', run: back },
  ]);
  return (
    <div class="shell">
      <header class="top">
        <h1>INT</h1>
        <nav class="tabs" aria-label="Views">
          {VIEWS.map((each, index) => (
            <a key={each} href={addressOf({ view: each })} aria-current={view.value === each ? 'page' : undefined}>
              {NAMES[each]} <Waiting view={each} />
              <small aria-hidden="true">{index + 1}</small>
            </a>
          ))}
        </nav>
        <Health />
        <button type="button" title="light or dark (t)" onClick={switchTheme}>
          {theme.value === 'dark' ? 'Light' : 'Dark'}
        </button>
        <button type="button" title="keys (?)" aria-label="Keys" onClick={() => setHelp(true)}>
          ?
        </button>
      </header>
      <div class="bar">
        <FilterBar />
        {replay.value !== null && <ReplayBar key={replay.value} id={replay.value} />}
        <TimeBar />
      </div>
      <main class="main" tabIndex={-1} aria-label={NAMES[view.value]}>
        <Current />
      </main>
      {isHelp && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}

/** What in a view waits for somebody, behind its name. */
function Waiting({ view: name }: { readonly view: View }) {
  const counts = replay.value === null ? status.value?.control : undefined;
  if (counts === undefined || (name !== 'incidents' && name !== 'control')) return null;
  const [count, text] = name === 'incidents' ? [counts.incidents, 'open'] : [counts.approvals, 'waiting for approval'];
  if (count === 0) return null;
  return (
    <span class="tag warn" title={`${countText(count)} ${text}`}>
      {count > MOST_COUNTED ? `${MOST_COUNTED}+` : count} <span class="hidden">{text}</span>
    </span>
  );
}

/** Views in which something can be opened. */
const WITH_ITEMS: ReadonlySet<View> = new Set(['events', 'incidents', 'control']);

function back(): void {
  if (WITH_ITEMS.has(view.value) && addressOf({ item: null }) !== location.hash) go({ item: null });
  else if (at.value !== null) go({ at: null });
  else if (filter.value !== '') go({ filter: '' });
}

function Current() {
  const name = view.value;
  const [, draw] = useState(0);
  const [failure, setFailure] = useState<string | null>(null);
  const main = useRef(name);
  main.current = name;
  const Loaded = loaded.get(name);
  useEffect(() => {
    setFailure(null);
    if (loaded.has(name) || name === 'now') return;
    LOADERS[name]().then(
      (component) => {
        loaded.set(name, component);
        if (main.current === name) draw((count) => count + 1);
      },
      () => setFailure('This part of the page could not be loaded: is the collector still running? Reload the page.'),
    );
  }, [name]);
  if (failure !== null) return <Empty>{failure}</Empty>;
  return Loaded === undefined ? <Empty>Loading…</Empty> : <Loaded />;
}

/** Whether the page hears from the collector, and how well the collector does. */
function Health() {
  const now = status.value;
  const state = liveState.value;
  const lost = now?.losses.reduce((sum, { count }) => sum + count, 0) ?? 0;
  return (
    <div class="health" role="status">
      {now === null && trouble.value !== null && <span class="tag bad">{trouble.value}</span>}
      {state !== 'open' && (
        <span class="tag warn">{state === 'waiting' ? 'connection lost, trying again' : 'connecting'}</span>
      )}
      {now !== null && (
        <>
          {now.degraded.length > 0 && (
            <span class="tag warn" title={now.degraded.map((each) => `${each.part}: ${each.state}`).join('\n')}>
              {now.degraded.length === 1
                ? shortState(now.degraded[0]!.state)
                : `${now.degraded.length} degraded states`}
            </span>
          )}
          <span class="less">
            <b>{countText(now.totals.reports)}</b> reports
          </span>
          <span class={lost > 0 ? 'warn' : 'less'}>
            <b>{countText(lost)}</b> lost
          </span>
          <span class="less" title="Age of the newest values">
            {isLive.value && now.now !== null ? `${durationText(now.dashboard.lagMs)} behind` : 'stopped'}
          </span>
          {now.readOnly && <span class="tag">read only</span>}
        </>
      )}
    </div>
  );
}
