/** A browser with the page of a live network, for the tests that look at it. */
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { requires } from '../../../../.ci/test/requires.js';
import { until as untilOften } from '../../../../.ci/test/until.js';
import { builtPage } from '../built-page.js';
import { type LiveNetwork, openLiveNetwork } from '../live-network.js';

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** How long a page has for a step: a little less than a test has. */
export const PATIENCE_MS = 50_000;

/** What the tests of a file share: one browser, one page, one network. */
export interface Stage extends LiveNetwork {
  readonly browser: Browser;
  readonly page: Page;
  /** What the page has complained of. */
  readonly complaints: string[];
}

/** The stage of a file: opened by its first test that is not skipped for want of a browser. */
export class SharedStage {
  readonly #network: (folder: string) => Promise<LiveNetwork>;
  #opened: Promise<Stage> | null = null;

  /** @param network opens it, with the page that a folder has */
  constructor(network = (page: string): Promise<LiveNetwork> => openLiveNetwork({ page })) {
    this.#network = network;
  }

  /** Skips the running test where there is no browser. */
  opened(): Promise<Stage> {
    const executablePath = requires(BROWSERS, 'npm run setup:system');
    this.#opened ??= this.#open(executablePath);
    return this.#opened;
  }

  async close(): Promise<void> {
    const stage = await this.#opened;
    if (stage === null) return;
    await stage.browser.close();
    await stage.collector.stop();
  }

  async #open(executablePath: string): Promise<Stage> {
    const folder = await builtPage();
    const [network, browser] = await Promise.all([
      this.#network(folder),
      chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] }),
    ]);
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark' });
    page.setDefaultTimeout(PATIENCE_MS);
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error.stack)));
    await page.goto(network.dashboard.url);
    return { ...network, browser, page, complaints };
  }
}

/** Waits until something holds in a browser. A look costs a browser and its page some milliseconds of work each, so that it is not often. */
export const until = <T>(
  what: string,
  condition: () => T | Promise<T>,
  patience: Parameters<typeof untilOften>[2] = {},
): Promise<Exclude<Awaited<T>, false | null | undefined>> => untilOften(what, condition, { everyMs: 40, ...patience });

/** Does something with the page of the stage away: a page that is live works all the time, whether one looks at it or not. */
export async function withPageAway<T>({ page, dashboard }: Stage, task: () => Promise<T>): Promise<T> {
  await page.goto('about:blank');
  try {
    return await task();
  } finally {
    await page.goto(dashboard.url);
  }
}

/** Goes to a place of the page, as an address in a message would. */
export async function show(page: Page, fragment: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
}

export const text = (page: Page, selector: string): Promise<string> => page.locator(selector).first().innerText();

/** Serious violations that axe-core finds in what is shown, with the elements. */
export async function violations(page: Page, only?: string): Promise<string[]> {
  await page.evaluate(`globalThis.axe === undefined && (() => { ${axe.source} })()`);
  const options = { resultTypes: ['violations'], iframes: false, ...(only === undefined ? {} : { runOnly: [only] }) };
  return page.evaluate(`axe.run(${JSON.stringify(options)}).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).slice(0, 3).join(' ')))`);
}
