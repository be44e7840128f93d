import type { IncomingMessage, ServerResponse } from 'node:http';
import { reply } from '@int/collector/http';
import { type Access, MOST_BODY } from './access.js';
import { ApiError } from './api-error.js';

const HTML = 'text/html; charset=utf-8';

const STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 22rem; margin: 20vh auto 0; padding: 0 1rem; }
label { display: block; margin-bottom: .25rem; }
input { box-sizing: border-box; width: 100%; padding: .5rem; font: inherit; }
button { margin-top: 1rem; padding: .5rem 1.5rem; font: inherit; }
p { min-height: 1.5em; }
`;

function page(message: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>INT: log in</title>
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="login.css">
</head>
<body>
<main>
<h1>INT</h1>
<p role="alert">${message}</p>
<form method="post" action="login">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button>Log in</button>
</form>
</main>
</body>
</html>
`;
}

/** Answers `/login`: a form without a script, which gives the token for a cookie. */
export async function answerLogin(access: Access, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') {
    reply(response, 200, HTML, page(access.needsToken ? '' : 'This dashboard needs no token.'));
    return;
  }
  if (!access.mayTry(request)) {
    reply(response, 429, HTML, page('Too many tries: wait some seconds.'));
    return;
  }
  const form = new URLSearchParams((await readBody(request)).toString());
  if (!access.logIn(form.get('token') ?? '', request, response)) {
    reply(response, 401, HTML, page('This is not the token.'));
    return;
  }
  response.setHeader('location', './');
  reply(response, 303, 'text/plain; charset=utf-8', 'Logged in.\n');
}

export function answerLoginStyle(response: ServerResponse): void {
  reply(response, 200, 'text/css; charset=utf-8', STYLE);
}

/** Reads a body. @throws ApiError (rejects) if it is too large */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MOST_BODY) throw new ApiError(413, 'ERR_BODY_TOO_LARGE', `a body has at most ${MOST_BODY} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
