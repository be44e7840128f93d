/** What the dashboard's thread asks of the program about its controller. It runs in the program's thread. */
import type {
  HostsAnswer,
  IncidentRow,
  IncidentsAnswer,
  JournalAnswer,
  OrderAnswer,
  ProposalAnswer,
  ProposalsAnswer,
} from '../protocol/control.js';
import { ENDED_STATES } from '../protocol/control-words.js';
import { ApiError } from '../server/api-error.js';
import type { Answers } from '../thread/thread-handle.js';
import type { ControlSource } from './control-source.js';
import type {
  HostsQuestion,
  IncidentsQuestion,
  JournalQuestion,
  OrderQuestion,
  ProposalsQuestion,
} from './questions.js';

/** A page of rows, the newest first, and how many there are of them. */
interface Page<Row> {
  readonly rows: readonly Row[];
  readonly matched: number;
  readonly empty: string | null;
}

/** @param empty why there is none, where there is none at all */
function pageOf<Row extends { readonly id: string | number }>(
  all: readonly Row[],
  isMeant: (row: Row) => boolean,
  { limit, before }: { readonly limit: number; readonly before: string | number | null },
  empty: string,
): Page<Row> {
  const meant = all.filter(isMeant);
  let from = 0;
  if (before !== null) {
    const at = meant.findIndex(({ id }) => id === before);
    if (at === -1) throw new ApiError(404, 'ERR_NOT_FOUND', `${before} is not among the rows that are asked for`);
    from = at + 1;
  }
  const rows = meant.slice(from, from + limit);
  return { rows, matched: meant.length, empty: emptyOf(rows, meant, all, empty) };
}

function emptyOf(
  rows: readonly unknown[],
  meant: readonly unknown[],
  all: readonly unknown[],
  empty: string,
): string | null {
  if (rows.length > 0) return null;
  if (all.length === 0) return empty;
  return meant.length === 0 ? `none of ${all.length} is as asked for` : 'there are no older ones';
}

export function controlAnswers(source: ControlSource): Answers {
  return {
    'control.incidents': (question): IncidentsAnswer => {
      const { state, kind, entity, ...page } = question as IncidentsQuestion;
      const isMeant = (row: IncidentRow): boolean =>
        (state === null || row.state === state) &&
        (kind === null || row.kind === kind) &&
        (entity === null || row.entity === entity || row.along.includes(entity));
      return pageOf(source.incidents(), isMeant, page, 'no detector has found anything');
    },
    'control.incident': (id): IncidentRow =>
      source.incidents().find((row) => row.id === id) ?? notFound(`no incident ${id} is remembered`),
    'control.hosts': (question): HostsAnswer => {
      const { limit } = question as HostsQuestion;
      const all = source.hosts();
      const rows = all.slice(0, limit);
      const empty = 'the topology names no hosts, and nothing was seen of any';
      return { rows, matched: all.length, empty: emptyOf(rows, all, all, empty) };
    },
    'control.proposals': (question): ProposalsAnswer => {
      const { state, kind, ...page } = question as ProposalsQuestion;
      return pageOf(
        source.proposals(),
        (row) =>
          (kind === null || row.kind === kind) &&
          (state === null ||
            row.state === state ||
            (state === 'live' && !ENDED_STATES.includes(row.state)) ||
            (state === 'ended' && ENDED_STATES.includes(row.state))),
        page,
        'nothing was proposed yet',
      );
    },
    'control.proposal': (id): ProposalAnswer =>
      source.proposal(id as string) ?? notFound(`no proposal ${id} is remembered`),
    'control.journal': (question): JournalAnswer => {
      const { what, proposal, switchId, limit, before } = question as JournalQuestion;
      const all = source.journal();
      const meant = all.filter(
        (row) =>
          (what === null || row.what === what) &&
          (proposal === null || row.proposal === proposal) &&
          (switchId === null || row.switchId === switchId),
      );
      // Ids rise, so a row that is forgotten by now does not matter.
      const older = before === null ? meant : meant.filter(({ id }) => id < before);
      const rows = older.slice(-limit).reverse();
      return { rows, matched: meant.length, empty: emptyOf(rows, meant, all, 'nothing has happened yet') };
    },
    'control.order': async (question): Promise<OrderAnswer> => {
      const order = question as OrderQuestion;
      const id = 'proposal' in order ? order.proposal : null;
      const find = (): OrderAnswer['proposal'] => source.proposals().find((row) => row.id === id) ?? null;
      if (id !== null && find() === null) notFound(`no proposal ${id} is remembered`);
      const refusal = await source.order(order);
      if (refusal !== null) throw new ApiError(409, 'ERR_ORDER', refusal);
      return { revision: source.revision, proposal: id === null ? null : find() };
    },
  };
}

function notFound(message: string): never {
  throw new ApiError(404, 'ERR_NOT_FOUND', message);
}
