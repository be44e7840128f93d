const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/dashboard.DashboardError') as never;

/** Why a dashboard cannot be opened: closed. */
export type DashboardErrorCode = 'ERR_DASHBOARD_LISTEN' | 'ERR_DASHBOARD_TOKEN' | 'ERR_DASHBOARD_TLS';

/** The dashboard cannot be opened. The system's own error is `cause`. */
export class DashboardError extends Error {
  override readonly name = 'DashboardError';
  readonly code: DashboardErrorCode;
  /** The system's code, such as `EADDRINUSE`; `null`: the system has not refused. */
  readonly reason: string | null;

  constructor(code: DashboardErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.reason = (cause as NodeJS.ErrnoException | undefined)?.code ?? null;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is DashboardError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
