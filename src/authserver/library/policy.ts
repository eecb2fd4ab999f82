import { type InteractionResults, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';

const { Check, Prompt } = interactionPolicy;

/**
 * Every authorization goes through an interaction of its own: the tokens of the providers belong to the grant, so neither an
 * earlier login nor an earlier grant of the same browser can stand in for it. What a client asks for with `prompt` changes
 * nothing about that, except for `none`, which fails with `login_required`.
 */
export function createPolicy(): interactionPolicy.Prompt[] {
  const isOpen = (ctx: KoaContextWithOIDC) => !isComplete(ctx.oidc.result);
  const login = requestable('login');
  login.checks.add(new Check('login_needed', 'the user has to log in', 'login_required', isOpen));
  return [login, requestable('consent'), requestable('select_account')];
}

/** A word that clients may use. The check that comes with it would ask a second time for what our interaction includes. */
function requestable(name: string): interactionPolicy.Prompt {
  const prompt = new Prompt({ name, requestable: true });
  prompt.checks.clear();
  return prompt;
}

function isComplete(result: InteractionResults | undefined): boolean {
  return result?.login?.accountId !== undefined && result.consent?.grantId !== undefined;
}
