import type { ServerResponse } from 'node:http';
import { errorPage, sendPage } from './pages/index.ts';

/** What a person is told who cannot be sent back to the app. */
export interface ErrorNotice {
  readonly status: number;
  readonly title: string;
  readonly message: string;
  readonly advice: string;
  /** Under this id the log knows more. */
  readonly incident: string;
  /** A way on that he may take, and what it says. */
  readonly continueTo?: string;
  readonly label?: string;
}

export type SendErrorPage = (response: ServerResponse, notice: ErrorNotice) => void;

export const sendErrorPage: SendErrorPage = (response, { status, ...model }) =>
  sendPage(response, status, errorPage(model));
