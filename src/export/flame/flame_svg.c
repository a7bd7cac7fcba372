/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flame graph as one SVG file with its own script: click a frame to zoom, "Search" to mark names.
 *
 * Names of programs are text here, never markup: put_text() writes each character that means
 * something as a reference, and the script only ever sets textContent. Frames that would be
 * narrower than a thousandth of a pixel are left out, because a browser would have to draw them
 * all.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "export/flame/flame_internal.h"

#define WIDTH 1200
#define ROW 18
#define TOP 46
#define LEAST_SHARE 1e-6

static const char script[] =
	"'use strict';\n"
	"const "
	"svg=document.documentElement,W=1200,all=[...document.querySelectorAll('.f')].map(g=>({g,r:"
	"g.querySelector('rect'),"
	"t:g.querySelector('text'),x:+g.dataset.x,w:+g.dataset.w,d:+g.dataset.d,n:g.dataset.n}));\n"
	"const info=document.getElementById('info'),reset=document.getElementById('reset');let "
	"at=all[0],last='';\n"
	"function draw(){for(const f of all){const "
	"out=f.x+f.w<=at.x||f.x>=at.x+at.w,above=f.d<at.d;\n"
	"f.g.style.display=out?'none':'';if(out)continue;\n"
	"const "
	"x=above?0:(f.x-at.x)/at.w*W,w=above?W:f.w/"
	"at.w*W;f.r.setAttribute('x',x);f.r.setAttribute('width',Math.max(w,0.3));\n"
	"f.t.setAttribute('x',x+3);const "
	"room=Math.floor((w-6)/"
	"7);f.t.textContent=room<3?'':f.n.length<=room?f.n:f.n.slice(0,room-1)+'\\u2026';\n"
	"f.g.style.opacity=above?0.5:1;}reset.style.display=at===all[0]?'none':'';}\n"
	"function search(){const asked=prompt('Part of a name, or nothing to end the "
	"search:',last);if(asked===null)return;last=asked;\n"
	"const low=asked.toLowerCase();let ns=0,end=-1,found=0;\n"
	"for(const f of all){const "
	"hit=asked!==''&&f.n.toLowerCase().includes(low);f.g.classList.toggle('hit',hit);found+="
	"hit;}\n"
	"for(const f of all.filter(f=>f.g.classList.contains('hit')).sort((a,b)=>a.x-b.x||a.d-b.d))"
	"if(f.x>=end){ns+=f.w;end=f.x+f.w;}\n"
	"info.textContent=asked===''?'':found+' frames have \"'+asked+'\": "
	"'+(ns/all[0].w*100).toFixed(2)+' % of the time';}\n"
	"for(const f of all){f.g.addEventListener('click',()=>{at=f;draw();});"
	"f.g.addEventListener('mouseover',()=>{info.textContent=f.g.querySelector('title')."
	"textContent.replace(/\\n/g,' \\u00b7 ');});}\n"
	"reset.addEventListener('click',()=>{at=all[0];draw();});document.getElementById('search')."
	"addEventListener('click',search);\n"
	"window.addEventListener('keydown',e=>{if((e.ctrlKey||e.metaKey)&&e.key==='f'){e."
	"preventDefault();search();}"
	"if(e.key==='Escape'){at=all[0];draw();}});draw();\n";

static void put_text(FILE *out, const char *text)
{
	while (*text) {
		const size_t length = text_utf8_length(text);

		if (!length || (unsigned char)*text < ' ' || *text == 0x7f)
			fputc('?', out);
		else if (strchr("&<>\"'", *text))
			fprintf(out, "&#%d;", *text);
		else
			fwrite(text, 1, length, out);
		text += length ? length : 1;
	}
}

static unsigned depth_of(const struct flame_box *frame)
{
	unsigned most = frame->depth;

	for (const struct flame_box *inner = frame->first; inner; inner = inner->next) {
		const unsigned depth = depth_of(inner);

		most = depth > most ? depth : most;
	}
	return most;
}

/* The same group has the same colour in each graph. */
static unsigned hue(const struct flame_box *frame)
{
	const char *text = frame->group ? frame->group : "";
	unsigned hash = 2166136261u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash % 360;
}

static void put_frame(FILE *out, const struct flame_box *frame, const char *what, int64_t x_ns,
		      double scale, unsigned rows)
{
	char total[TEXT_QUANTITY_MAX], self[TEXT_QUANTITY_MAX];
	const double y = TOP + (double)(rows - frame->depth) * ROW;

	fprintf(out,
		"<g class=\"f\" data-x=\"%" PRId64 "\" data-w=\"%" PRId64
		"\" data-d=\"%u\" data-n=\"",
		x_ns, frame->total_ns, frame->depth);
	put_text(out, frame->label);
	fputs("\"><title>", out);
	put_text(out, frame->label);
	fprintf(out, "\n%s, of it %s itself", text_ns(total, frame->total_ns),
		text_ns(self, frame->self_ns));
	if (frame->count)
		fprintf(out, "\n%" PRIu64 " %s", frame->count, what);
	fprintf(out,
		"</title><rect x=\"%.3f\" y=\"%.0f\" width=\"%.3f\" height=\"%d\" "
		"fill=\"hsl(%u,%d%%,74%%)\"/>",
		(double)x_ns * scale, y, (double)frame->total_ns * scale, ROW - 1, hue(frame),
		frame->group ? 60 : 0);
	fprintf(out, "<text x=\"%.3f\" y=\"%.0f\"></text></g>\n", (double)x_ns * scale + 3, y + 13);
}

static void put_frames(FILE *out, const struct flame_box *frame, const char *what, int64_t x_ns,
		       double scale, unsigned rows)
{
	if ((double)frame->total_ns * scale < LEAST_SHARE * WIDTH)
		return;
	put_frame(out, frame, what, x_ns, scale, rows);
	for (const struct flame_box *inner = frame->first; inner; inner = inner->next) {
		put_frames(out, inner, what, x_ns, scale, rows);
		x_ns += inner->total_ns;
	}
}

void flame_svg(FILE *out, const struct flame_box *root, const char *what, const char *title)
{
	const unsigned rows = depth_of(root);
	const int height = TOP + (int)(rows + 1) * ROW + 8;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 "
		"0 %d %d\">\n"
		"<style>text{font:12px sans-serif;fill:#111}.f{cursor:pointer}.f "
		"text{pointer-events:none}.f:hover rect{stroke:#111}.hit "
		"rect{fill:#e03}.button{cursor:pointer;fill:#05c}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text x=\"4\" y=\"16\">Time in %s of ",
		WIDTH, height, WIDTH, height, what);
	put_text(out, title);
	fprintf(out,
		"</text>\n<text id=\"info\" x=\"4\" y=\"34\"></text>\n"
		"<text id=\"reset\" class=\"button\" x=\"%d\" y=\"16\" "
		"style=\"display:none\">Whole graph</text>\n"
		"<text id=\"search\" class=\"button\" x=\"%d\" y=\"16\">Search</text>\n",
		WIDTH - 140, WIDTH - 50);
	if (root->total_ns > 0)
		put_frames(out, root, what, 0, (double)WIDTH / (double)root->total_ns, rows);
	else
		fprintf(out, "<text x=\"4\" y=\"%d\">The trace has no %s.</text>\n", TOP + 14,
			what);
	if (root->total_ns > 0)
		fprintf(out, "<script><![CDATA[\n%s]]></script>\n", script);
	fputs("</svg>\n", out);
}
