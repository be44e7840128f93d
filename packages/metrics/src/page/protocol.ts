/** What the thread that serves the pages and the one of the pipeline say to each other. */
import type { GuardedServerOptions, GuardTotals } from '@int/collector/http';
import type { Health } from './health.js';
import type { PageContent } from './page.js';

/** Given to the thread when it starts. */
export interface PageSetup {
  readonly host: string;
  readonly port: number;
  readonly guard: Omit<GuardedServerOptions, 'token'>;
  /** A page is made anew only if it is older. */
  readonly intervalMs: number;
  readonly mostBytes: number;
}

/** What the thread asks for, one at a time of each. */
export type Asked = 'page' | 'health';

/** To the thread. */
export type ToPageThread =
  | { readonly name: 'page'; readonly content: PageContent }
  | { readonly name: 'health'; readonly health: Health }
  /** What was asked for could not be had. */
  | { readonly name: 'failed'; readonly asked: Asked; readonly message: string }
  | { readonly name: 'close' };

/** What the thread has counted. */
export interface PageTotals extends GuardTotals {
  /** Pages made. */
  readonly pages: number;
  /** Bytes of the last page. */
  readonly pageBytes: number;
  /** Samples left out of the last page, for want of room. */
  readonly omitted: number;
}

/** From the thread. */
export type FromPageThread =
  | { readonly name: 'listening'; readonly host: string; readonly port: number }
  | { readonly name: 'refused'; readonly code: string; readonly message: string }
  | { readonly name: 'ask'; readonly asked: Asked }
  /** Each second in which something has changed. */
  | { readonly name: 'totals'; readonly totals: PageTotals };
