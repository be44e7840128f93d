import { useEffect, useRef } from 'preact/hooks';
import type { ControlAnswer, JournalRow } from '../../client/index.js';
import { JournalList } from '../control/journal.js';
import { Intents, Policy, Switches } from '../control/overview.js';
import { ProposalDetail } from '../control/proposal-detail.js';
import { ProposalList } from '../control/proposal-list.js';
import { StopBar } from '../control/stop-bar.js';
import { countText, sentenceOf } from '../format/text.js';
import { chosenBy } from '../incidents/chosen.js';
import { Empty, Panel } from '../parts/panel.js';
import { useAnswer } from '../state/answers.js';
import { client } from '../state/connection.js';
import { controlAbsence, useControl } from '../state/control.js';
import { useKeys } from '../state/keyboard.js';
import { at, filter, item, keep, kept } from '../state/location.js';
import { isNarrow } from '../state/selection.js';

/** Rows that are asked for. */
const MOST = 200;
const MOST_INCIDENTS = 500;

/** What the controller wants, does and did; orders to it, and the emergency stop. */
export function ControlView() {
  const { data, error } = useControl();
  const absence = controlAbsence();
  if (absence !== null) return <Empty>{absence}</Empty>;
  if (data === null) return <Empty>{error ?? 'Asking for the controller…'}</Empty>;
  return <Known control={data} />;
}

function Known({ control }: { readonly control: ControlAnswer }) {
  const opened = item.value;
  const { revision } = control;
  const withJournal = kept('journal') !== 'no';
  const shown = useRef<HTMLDivElement>(null);
  const proposals = useAnswer(`proposals ${revision}`, (signal) => client.proposals({ limit: MOST }, { signal }));
  const journal = useAnswer(
    `journal ${revision}`,
    withJournal ? (signal) => client.journal({ limit: MOST }, { signal }) : null,
  );
  const wanted = filter.value;
  const incidents = useAnswer(
    `incidents ${revision}`,
    wanted === '' ? null : (signal) => client.incidents({ limit: MOST_INCIDENTS }, { signal }),
  );
  const byId = new Map(incidents.data?.rows.map((row) => [row.id, row]));
  const chosen = chosenBy(wanted);
  const passes = (id: string): boolean => {
    const incident = byId.get(id);
    return wanted === '' || incident === undefined || chosen.passes(incident);
  };
  // In one column it stands above the list.
  useEffect(() => {
    if (opened !== null && isNarrow()) shown.current?.scrollIntoView();
  }, [opened]);
  useKeys([{ key: 'u', text: 'journal: show or hide', run: () => keep({ journal: withJournal ? 'no' : '' }) }]);
  return (
    <div class="control">
      <StopBar control={control} />
      <div class="split events opened">
        <div class="side lists">
          <ProposalList
            rows={proposals.data?.rows ?? null}
            matched={proposals.data?.matched ?? 0}
            empty={proposals.data?.empty ?? null}
            error={proposals.error}
            opened={opened}
            passes={passes}
          />
          {withJournal && (
            <Journal rows={journal.data?.rows ?? null} empty={journal.data?.empty} error={journal.error} />
          )}
        </div>
        <div class="side" ref={shown}>
          {opened === null ? (
            <>
              <Policy control={control} />
              <Switches control={control} />
              <Intents control={control} />
            </>
          ) : (
            <ProposalDetail key={opened} id={opened} revision={revision} />
          )}
        </div>
      </div>
    </div>
  );
}

interface JournalProps {
  readonly rows: readonly JournalRow[] | null;
  readonly empty: string | null | undefined;
  readonly error: string | null;
}

function Journal({ rows: all, empty, error }: JournalProps) {
  const stopped = at.value;
  const rows = (all ?? []).filter(({ atMs }) => stopped === null || atMs <= stopped);
  return (
    <Panel
      title="Journal"
      note={`${countText(rows.length)}${stopped === null ? '' : ' up to this time'}, the newest first`}
      isFlush
      error={error}
    >
      {rows.length === 0 ? (
        <Empty>
          {all === null
            ? 'Asking for the journal…'
            : all.length > 0
              ? 'Nothing that is remembered had happened at this time.'
              : sentenceOf(empty ?? 'nothing has happened yet')}
        </Empty>
      ) : (
        <JournalList rows={rows} />
      )}
    </Panel>
  );
}
