import type { ServerResponse } from 'node:http';
import { type ErrorModel, errorPage, sendPage } from './pages/index.ts';

/** What a person is told who cannot be sent back to the app. */
export interface ErrorNotice extends Omit<ErrorModel, 'seconds'> {
  readonly status: number;
}

export type SendErrorPage = (response: ServerResponse, notice: ErrorNotice) => void;

export const sendErrorPage: SendErrorPage = (response, { status, ...model }) =>
  sendPage(response, status, errorPage(model));
