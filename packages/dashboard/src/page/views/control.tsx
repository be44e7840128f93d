import { useEffect, useRef } from 'preact/hooks';
import type { ControlAnswer, JournalAnswer } from '../../client/index.js';
import { JournalList } from '../control/journal.js';
import { Intents, Policy, Switches } from '../control/overview.js';
import { ProposalDetail } from '../control/proposal-detail.js';
import { ProposalList } from '../control/proposal-list.js';
import { StopBar } from '../control/stop-bar.js';
import { countText, sentenceOf } from '../format/text.js';
import { chosenBy } from '../incidents/chosen.js';
import { Pager, rangeText } from '../parts/pager.js';
import { Empty, Panel } from '../parts/panel.js';
import { useAnswer } from '../state/answers.js';
import { client } from '../state/connection.js';
import { controlAbsence, useControl } from '../state/control.js';
import { useKeys } from '../state/keyboard.js';
import { at, filter, item, keep, kept } from '../state/location.js';
import { besideOf, PAGE, usePaging } from '../state/pages.js';
import { isNarrow } from '../state/selection.js';

/** Those that a filter is asked about. */
const MOST_INCIDENTS = 500;
const STATES = ['live', 'ended'] as const;

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
  const stopped = at.value;
  // Which states proposals had at another time, the list says itself.
  const state = stopped === null ? STATES.find((each) => each === kept('state')) : undefined;
  const ofTime = stopped === null ? {} : { at: stopped };
  const page = besideOf('page');
  const proposals = useAnswer(`proposals ${revision} ${page.place} ${state} ${stopped}`, (signal) =>
    client.proposals({ limit: PAGE, ...page.beside, ...ofTime, ...(state !== undefined && { state }) }, { signal }),
  );
  const { place, beside } = besideOf('journal-page');
  const { before, after } = beside;
  const rows = {
    ...(before !== undefined && { before: Number(before) }),
    ...(after !== undefined && { after: Number(after) }),
  };
  const journal = useAnswer(
    `journal ${revision} ${place} ${stopped}`,
    withJournal ? (signal) => client.journal({ limit: PAGE, ...rows, ...ofTime }, { signal }) : null,
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
            answer={proposals.data}
            error={proposals.error}
            state={state ?? null}
            opened={opened}
            passes={passes}
          />
          {withJournal && <Journal answer={journal.data} written={control.counts.journal} error={journal.error} />}
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
  readonly answer: JournalAnswer | null;
  /** Rows since the start, those that are forgotten too. */
  readonly written: number;
  readonly error: string | null;
}

function Journal({ answer, written, error }: JournalProps) {
  const paging = usePaging('journal-page', answer, 'journal', ['N', 'O']);
  const stopped = at.value;
  const rows = answer?.rows ?? [];
  const range = rangeText(answer);
  const forgotten = stopped === null && answer !== null ? written - answer.matched : 0;
  return (
    <Panel
      title="Journal"
      note={`${range === '' ? `${countText(rows.length)}, the newest first` : range}${stopped === null ? '' : ', up to this time'}${forgotten > 0 ? `; ${countText(forgotten)} before them are only in its files` : ''}`}
      isFlush
      error={error}
      tools={<Pager paging={paging} what="rows of the journal" />}
    >
      {rows.length === 0 ? (
        <Empty>
          {answer === null
            ? 'Asking for the journal…'
            : stopped !== null
              ? 'Nothing that is remembered had happened at this time.'
              : sentenceOf(answer.empty ?? 'nothing has happened yet')}
        </Empty>
      ) : (
        <JournalList rows={rows} />
      )}
    </Panel>
  );
}
