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
import { emptyOf, pageOf, risingPageOf } from './pages.js';
import type {
  HostsQuestion,
  IncidentsQuestion,
  JournalQuestion,
  OrderQuestion,
  ProposalsQuestion,
} from './questions.js';

export function controlAnswers(source: ControlSource): Answers {
  return {
    'control.incidents': (question): IncidentsAnswer => {
      const { state, kind, entity, at, ...page } = question as IncidentsQuestion;
      const all = source.incidents();
      const meant = all.filter(
        (row) =>
          (state === null || row.state === state) &&
          (kind === null || row.kind === kind) &&
          (entity === null || row.entity === entity || row.along.includes(entity)) &&
          (at === null || row.from <= at),
      );
      return pageOf(meant, all.length, { ...page, at }, 'no detector has found anything');
    },
    'control.incident': (id): IncidentRow =>
      source.incidents().find((row) => row.id === id) ?? notFound(`no incident ${id} is remembered`),
    'control.hosts': (question): HostsAnswer => {
      const { limit } = question as HostsQuestion;
      const all = source.hosts();
      const rows = all.slice(0, limit);
      const empty = 'the topology names no hosts, and nothing was seen of any';
      return { rows, matched: all.length, empty: emptyOf(rows, all.length, all.length, empty) };
    },
    'control.proposals': (question): ProposalsAnswer => {
      const { state, kind, at, ...page } = question as ProposalsQuestion;
      const all = source.proposals();
      const meant = all.filter(
        (row) =>
          (kind === null || row.kind === kind) &&
          (state === null ||
            row.state === state ||
            (state === 'live' && !ENDED_STATES.includes(row.state)) ||
            (state === 'ended' && ENDED_STATES.includes(row.state))) &&
          (at === null || (row.stages[0]?.atMs ?? 0) <= at),
      );
      return pageOf(meant, all.length, { ...page, at }, 'nothing was proposed yet');
    },
    'control.proposal': (id): ProposalAnswer =>
      source.proposal(id as string) ?? notFound(`no proposal ${id} is remembered`),
    'control.journal': (question): JournalAnswer => {
      const { what, proposal, switchId, at, ...page } = question as JournalQuestion;
      const all = source.journal();
      const meant = all.filter(
        (row) =>
          (what === null || row.what === what) &&
          (proposal === null || row.proposal === proposal) &&
          (switchId === null || row.switchId === switchId) &&
          (at === null || row.atMs <= at),
      );
      return risingPageOf(meant.reverse(), all.length, { ...page, at }, 'nothing has happened yet');
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
