'use strict';

const page = document.body.dataset;
const timeline = document.querySelector('.timeline');
const form = document.querySelector('.composer');
const live = document.querySelector('.live');
const context = form.querySelector('.context');
const problem = form.querySelector('.problem');

const problems = {
  too_long: 'That is too long for one message.',
  no_thread: 'That thread is not there any more.',
  invalid: 'The room did not understand that.',
};

function localClock(time) {
  const at = new Date(time.dateTime);
  time.textContent = at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  time.title = at.toLocaleString();
}

function atEnd() {
  return window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 120;
}

function toEnd() {
  window.scrollTo({ top: document.documentElement.scrollHeight });
}

function flash(article) {
  article.classList.remove('fresh');
  void article.offsetWidth; // restarts the animation
  article.classList.add('fresh');
}

function fill(article, m) {
  article.id = m.id;
  article.className = 'message ' + (m.kind === 'bot' ? 'bot' : 'person');
  article.classList.toggle('changed', Boolean(m.edited));
  article.classList.toggle('deleted', Boolean(m.deleted));
  article.querySelector('.author').textContent = m.author;
  article.querySelector('.text').textContent = m.text;
  const time = article.querySelector('time');
  time.dateTime = m.at;
  localClock(time);
}

function place(article, m) {
  const item = document.createElement('li');
  item.append(article);
  if (m.thread) {
    const root = document.getElementById(m.thread);
    if (!root) return false;
    root.closest('.strand').querySelector('.replies').append(item);
    return true;
  }
  item.className = 'strand';
  const replies = document.createElement('ol');
  replies.className = 'replies';
  item.append(replies, answerButton());
  timeline.append(item);
  return true;
}

function answerButton() {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'answer';
  button.textContent = 'Reply';
  return button;
}

function show(event) {
  const m = JSON.parse(event.data);
  const follow = atEnd();
  let article = document.getElementById(m.id);
  if (!article) {
    article = document.getElementById('message-template').content.querySelector('article').cloneNode(true);
    if (!place(article, m)) return;
  }
  fill(article, m);
  flash(article);
  if (follow && event.type === 'new') toEnd();
}

function listen() {
  const query = new URLSearchParams(page.query);
  query.set('after', page.rev);
  const feed = new EventSource(page.base + '/events?' + query);
  for (const name of ['new', 'edit', 'retract']) feed.addEventListener(name, show);
  feed.onopen = () => { live.textContent = 'live'; live.classList.add('on'); };
  feed.onerror = () => { live.textContent = 'reconnecting'; live.classList.remove('on'); };
}

function enterThread(article) {
  form.thread.value = article ? article.id : '';
  context.hidden = !article;
  if (article) {
    context.querySelector('b').textContent = article.querySelector('.author').textContent;
    form.text.focus();
  }
}

function complain(text) {
  problem.textContent = text;
  problem.hidden = !text;
}

async function send() {
  const button = form.querySelector('.send');
  button.disabled = true;
  try {
    const answer = await fetch(form.action, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: form.name.value, text: form.text.value, thread: form.thread.value }),
    });
    const body = await answer.json().catch(() => ({}));
    if (!answer.ok) {
      complain(problems[body.error && body.error.code] || 'That could not be posted.');
      return;
    }
    complain('');
    form.text.value = '';
  } catch {
    complain('The room can’t be reached just now.');
  } finally {
    button.disabled = false;
    form.text.focus();
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (form.text.value.trim()) send();
});
form.text.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
form.querySelector('.leave').addEventListener('click', () => enterThread(null));
timeline.addEventListener('click', (event) => {
  const button = event.target.closest('.answer');
  if (button) enterThread(button.closest('.strand').querySelector('.message'));
});

document.querySelectorAll('.message time').forEach(localClock);
document.querySelectorAll('.answer').forEach((button) => { button.hidden = false; });
toEnd();
listen();
