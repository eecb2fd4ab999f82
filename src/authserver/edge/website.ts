import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { SendErrorPage } from '../page.ts';
import { destinationOf } from '../pages/index.ts';

/** The website that a redirect leads to, if it is one: not a program on the computer of the user, nor an app. */
export function websiteIn(location: unknown): URL | undefined {
  const url = typeof location === 'string' ? URL.parse(location) : null;
  return url && destinationOf(url.href).kind === 'website' ? url : undefined;
}

/**
 * RFC 9700 §4.11.2: anybody can register a website as a client and make a request that fails at once. If we redirected then, our
 * own address would lead people to any page of any stranger. So the user is told where it would go, and decides. Gives the id of
 * the incident, for the log.
 */
export function leaveToUser(response: ServerResponse, website: URL, sendErrorPage: SendErrorPage): string {
  const incident = randomUUID();
  sendErrorPage(response, {
    status: 400,
    title: 'The app asked for a login in a wrong way',
    message: 'The request cannot be answered. Nobody has looked at who you are, and nothing was given to the app.',
    advice: `Go on only if you know ${website.host} and started a login there. If you followed a link from somebody, close this window.`,
    continueTo: website.href,
    label: `Back to ${website.host}`,
    incident,
  });
  return incident;
}
